// Runs the blocks of an emulated launch: the threads of a block, and of all blocks of a cluster, are fibers of one OS thread, which
// switch at barriers, warp-wide operations and nowhere else. The order in which they run is chosen, so that a missing barrier shows under
// one of the orders.
#pragma once

#include "host/emulation.h"
#include "runtime/emulation/host_launch.h"

namespace tmm {

// Runs it on the calling OS thread; any number of threads may call it. Throws DeviceFault where threads wait for what never comes, shared
// memory is written outside of its tiles, an access is misaligned, or the kernel reports an error itself.
void run_on_host(const HostLaunch& launch);

// What a loaded kernel is connected to.
const host::Services& host_services();

}  // namespace tmm
