// The order in which an emulated launch's threads run, and what a shuffled one leaves to chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tmm {

struct HostThreadOrder {
    enum class Kind { ascending, descending, shuffled, straggling };
    Kind kind = Kind::ascending;
    // The order is shuffled anew at each barrier. Half of the asynchronous copies, chosen by the seed, land at once.
    std::uint64_t seed = 1;
    // The order is ascending, but this thread of each block goes on only when no other can: so warps that need not meet come far apart.
    std::uint64_t straggler = 0;
};

// "ascending", "descending", "shuffled[:seed]" or "straggling:thread". Throws Error (usage).
HostThreadOrder parse_host_thread_order(const std::string& text);

// Gives the same choices again for the same order; in orders that are not shuffled it gives never heads and always the first.
class HostChance {
public:
    HostChance() = default;
    explicit HostChance(const HostThreadOrder& order);

    bool heads() { return shuffled_ && (next() >> 32 & 1) != 0; }
    std::size_t one_of(std::size_t count) { return shuffled_ ? (next() >> 11) % count : 0; }

private:
    std::uint64_t next();

    bool shuffled_ = false;
    std::uint64_t state_ = 1;
};

}  // namespace tmm
