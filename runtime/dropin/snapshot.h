// A small value that threads read and replace without locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tmm::dropin {

// A sequence lock: who reads copies the value and sees whether it was being replaced meanwhile. Who replaces it does so only where nobody
// else does, so that a thread that a forked child does not have can hold nobody up.
template <class Value>
class Snapshot {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(std::uintptr_t) == 0);
    using Words = std::array<std::uintptr_t, sizeof(Value) / sizeof(std::uintptr_t)>;

public:
    constexpr Snapshot() = default;

    // False where there is no whole value; what `value` holds is then no matter.
    bool read(Value& value) const noexcept {
        const unsigned before = sequence_.load(std::memory_order_acquire);
        if (before == 0 || before % 2 != 0) return false;
        // Whoever sees a word of a new value sees, too, that the value is being replaced.
        for (std::size_t i = 0; i < words_.size(); ++i) {
            const std::uintptr_t word = words_[i].load(std::memory_order_acquire);
            std::memcpy(reinterpret_cast<std::byte*>(&value) + i * sizeof word, &word, sizeof word);
        }
        return sequence_.load(std::memory_order_relaxed) == before;
    }
    void replace(const Value& value) noexcept {
        unsigned before = sequence_.load(std::memory_order_relaxed);
        if (before % 2 != 0 || !sequence_.compare_exchange_strong(before, before + 1, std::memory_order_acq_rel)) return;
        Words words;
        std::memcpy(words.data(), static_cast<const void*>(&value), sizeof value);
        for (std::size_t i = 0; i < words.size(); ++i) words_[i].store(words[i], std::memory_order_release);
        sequence_.store(before + 2, std::memory_order_release);
    }

private:
    std::atomic<unsigned> sequence_ = 0;
    std::array<std::atomic<std::uintptr_t>, std::tuple_size_v<Words>> words_{};
};

}  // namespace tmm::dropin
