// A thread of an emulated block: what it waits for, and in which words a launch says that all wait in vain.
#pragma once

#include <cstddef>
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

}  // namespace tmm
