// Runs the blocks of an emulated launch: the threads of a block, and of all blocks of a cluster, are fibers of one OS thread, which
// switch at barriers, warp-wide operations and nowhere else. The order in which they run is chosen, so that a missing barrier shows under
// one of the orders.
#pragma once

#include <cstdint>
#include <string>

#include "host/emulation.h"

namespace tmm {

struct HostThreadOrder {
    enum class Kind { ascending, descending, shuffled };
    Kind kind = Kind::ascending;
    // Shuffled anew at each barrier. Half of the asynchronous copies, chosen by the seed, land at once.
    std::uint64_t seed = 1;
};

// "ascending", "descending" or "shuffled[:seed]". Throws Error (usage).
HostThreadOrder parse_host_thread_order(const std::string& text);

struct HostLaunch {
    // Runs one thread to its end.
    void (*kernel)(const void* arguments) = nullptr;
    const void* arguments = nullptr;
    std::int64_t grid = 1;
    int threads = 1;
    // Blocks that run together; the grid is a multiple of it.
    int cluster = 1;
    std::int64_t shared_bytes = 0;
    HostThreadOrder order;
};

// Runs it on the calling OS thread; any number of them may. Throws DeviceFault where threads wait for what never comes, shared
// memory is written outside of its tiles, or the kernel reports an error itself.
void run_on_host(const HostLaunch& launch);

// What a loaded kernel is connected to.
const host::Services& host_services();

}  // namespace tmm
