// Runs the blocks of an emulated launch: the threads of a block, and of all blocks of a cluster, are fibers of one OS thread.
#pragma once

#include <cstdint>

#include "host/emulation.h"
#include "runtime/emulation/host_thread.h"

namespace tmm {

struct HostLaunch {
    // Runs one thread to its end.
    void (*kernel)(const void* arguments) = nullptr;
    const void* arguments = nullptr;
    std::int64_t grid = 1;
    int threads = 1;
    // Blocks that run together; the grid is a multiple of it.
    int cluster = 1;
    std::int64_t shared_bytes = 0;
    // In every order of threads, blocks then run one after the other, from the first on.
    bool waits_for_blocks_before = false;
    HostThreadOrder order;
};

// Runs the blocks of an emulated launch: the threads of a block, and of all blocks of a cluster, are fibers of one OS thread, which
// switch at barriers, warp-wide operations and nowhere else. The order in which they run is chosen, so that a missing barrier shows under
// one of the orders.

// Runs it on the calling OS thread; any number of threads may call it. Throws DeviceFault where threads wait for what never comes, shared
// memory is written outside of its tiles, an access is misaligned, or the kernel reports an error itself.
void run_on_host(const HostLaunch& launch);

// What a loaded kernel is connected to.
const host::Services& host_services();

}  // namespace tmm
