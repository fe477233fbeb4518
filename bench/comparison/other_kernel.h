// Another kernel between products, as most programs have it: a product then neither overlaps with itself nor finds the caches as it left
// them.
#pragma once

#include <memory>

#include "bench/peers/contestant.h"
#include "runtime/device/device.h"

namespace tmm::bench {

// An elementwise kernel that reads and writes a matrix of its own.
class OtherKernel {
public:
    // Throws Error (no_compiler) where the kernel does not compile.
    explicit OtherKernel(std::shared_ptr<Device> device);

    // The kernel alone.
    std::unique_ptr<Contestant> alone() const;
    // The kernel before each multiplication of the contestant, which must outlive the result.
    std::unique_ptr<Contestant> before(Contestant& product) const;

private:
    std::shared_ptr<Device> device_;
    std::shared_ptr<Contestant> kernel_;
    std::shared_ptr<DeviceBuffer> memory_;
};

}  // namespace tmm::bench
