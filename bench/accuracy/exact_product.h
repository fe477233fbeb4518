// The exact product: op(A) op(B) and |op(A)| |op(B)| in double precision, computed where the operands are, by the kernel that judges
// candidates when they are tuned.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/plan/executable_plan.h"

namespace tmm::bench {

// The elements are ordered [batch][m][n].
struct ExactProduct {
    std::vector<double> value;
    std::vector<double> magnitude;
};

class ExactMultiplier {
public:
    // Throws Error (no_compiler) where the kernel does not compile.
    explicit ExactMultiplier(std::shared_ptr<Device> device);

    // Multiplies f32, f16 or bf16 operands in the device's memory, after the default stream's work. Throws std::bad_alloc where memory is
    // short.
    ExactProduct multiply(const GemmProblem& problem, const void* a, const void* b);

private:
    std::shared_ptr<Device> device_;
    KernelLoader loader_;
    std::shared_ptr<const LoadedKernel> kernel_;
    // Memory for the values and the magnitudes, kept for the next product of that size.
    DeviceBuffer results_;
};

}  // namespace tmm::bench
