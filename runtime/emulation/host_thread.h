// A thread of an emulated block: what it waits for, and in which words a launch says that all wait in vain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/emulation.h"
#include "runtime/emulation/host_background.h"
#include "runtime/emulation/host_fibers.h"

namespace tmm {

struct HostThread {
    enum class State { not_started, ready, at_barrier, at_cluster_barrier, at_named_barrier, at_mbarrier, at_warp_operation, exited };

    host::Thread view{};
    State state = State::not_started;
    HostFibers::Fiber* fiber = nullptr;
    host::Site site{};
    // What the thread brings to a warp-wide operation and takes from it.
    host::WarpOperation operation{};
    unsigned mask = 0;
    unsigned long long word = 0;
    int source_lane = 0;
    const void* brought = nullptr;
    int bytes = 0;
    // What all lanes brought; it stands with the warp's first lane.
    std::vector<unsigned char> gathered;
    // A named barrier's number and threads; how often mbarriers had changed when the thread began to wait for one.
    int barrier_id = 0;
    int barrier_threads = 0;
    unsigned long long changes_seen = 0;
    AsyncCopies copies;
    BulkStores stores;
    // The thread has written to shared memory what the copy engine need not see yet.
    bool unfenced = false;
    DeferredOperations deferred;

    // Forgets the thread's last block.
    void begin_block(const host::Thread& place);
};

bool same_site(host::Site a, host::Site b);
std::string describe(host::Site site);
const char* name_of(host::WarpOperation operation);

// Says that every thread waits for another, or for one that has ended.
std::string describe_divergence(std::span<const HostThread> threads, const std::string& where_in_grid);

// The order in which an emulated launch's threads run, and what a shuffled one leaves to chance.

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

// The operations of a warp's lanes with each other, once its lanes have come to one.

inline constexpr std::size_t kHostWarpSize = 32;

// Whether every other lane of the mask waits at the same operation, in the same place.
bool others_have_come(std::span<const HostThread> warp, const HostThread& last);

// All lanes of the mask have arrived: each gets its result, and those that waited may go on.
void exchange_words(std::span<HostThread> warp, const HostThread& last);

}  // namespace tmm
