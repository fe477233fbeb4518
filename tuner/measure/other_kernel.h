// Another kernel between products, as most programs have it: a product then neither overlaps with itself nor finds the caches as it left
// them.
#pragma once

#include <memory>

#include "runtime/device/device.h"
#include "runtime/plan/executable_plan.h"

namespace tmm {

// An elementwise kernel that reads and writes 4 MiB of its own, which stay in the L2, as an activation between two layers does. It may be
// enqueued by several threads.
class OtherKernel {
public:
    // Throws Error (no_compiler) where the kernel does not compile, std::bad_alloc where memory is short.
    OtherKernel(const std::shared_ptr<Device>& device, KernelLoader& loader);

    void enqueue(Stream stream) const;
    // Device time of the kernel where it follows itself, in microseconds: the median of a few samples.
    double alone_us() const;

private:
    std::shared_ptr<Device> device_;
    std::shared_ptr<const LoadedKernel> kernel_;
    DeviceBuffer memory_;
};

}  // namespace tmm
