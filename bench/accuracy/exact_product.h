// Exact results, in double precision: op(A) op(B) and |op(A)| |op(B)|, computed where the operands are by the kernel that judges results,
// and what an epilogue makes of the elements of C.
#pragma once

#include <memory>
#include <vector>

#include "bench/operands/operands.h"
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

// What an epilogue makes of the elements of C, in double precision, with the bias and residual of one set of operands.

// A value, and how far a result may be off from it before it is rounded to the type of C.
struct Bounded {
    double value = 0;
    double error = 0;
    // What the value lacks, which a double does not hold.
    double rest = 0;
};

class ExactEpilogue {
public:
    // Without operands it leaves all as it is.
    ExactEpilogue() = default;
    ExactEpilogue(const Operands& operands, int set);

    // What becomes of x = alpha * op(A) * op(B) + beta * C at this place of C. value: what a gate is for, which stands columns_of_c()
    // behind x in the product, or rows_of_c() below it; x is then the gate's.
    Bounded finish(i64 batch, i64 row, i64 column, const Bounded& x, const Bounded& value = {}) const;

private:
    double bias_at(i64 row, i64 column) const;

    GemmProblem problem_;
    FilledMatrix bias_;
    FilledMatrix residual_;
};

}  // namespace tmm::bench
