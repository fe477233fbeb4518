#include "runtime/dropin/process.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace tmm::dropin {
namespace {

std::atomic<unsigned> last_number = 0;
std::atomic<unsigned> owner = 0;

// The system empties the number's page in a child, whichever way it is forked; where it can't, the C library's fork() does.
std::atomic<unsigned>& number() noexcept {
    static std::atomic<unsigned>* const made = [] {
        static std::atomic<unsigned> in_plain_memory = 0;
        const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED && madvise(memory, bytes, MADV_WIPEONFORK) == 0) return new (memory) std::atomic<unsigned>(0);
        pthread_atfork(nullptr, nullptr, [] { number().store(0); });
        return &in_plain_memory;
    }();
    return *made;
}

}  // namespace

unsigned process_number() noexcept {
    unsigned known = number().load(std::memory_order_acquire);
    if (known) return known;
    const unsigned made = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
    return number().compare_exchange_strong(known, made, std::memory_order_acq_rel) ? made : known;
}

bool owns_tmm() noexcept {
    const unsigned self = process_number();
    unsigned owning = owner.load(std::memory_order_acquire);
    return owning == self || (!owning && (owner.compare_exchange_strong(owning, self) || owning == self));
}

}  // namespace tmm::dropin
