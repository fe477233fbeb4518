// A launch of a kernel on the emulated device.
#pragma once

#include <cstdint>

#include "runtime/emulation/host_thread_order.h"

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

}  // namespace tmm
