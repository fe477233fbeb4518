// One problem's operands on the device, filled family by family, and the product that a contestant makes of them.
#pragma once

#include <memory>
#include <vector>

#include "bench/accuracy/input_family.h"
#include "bench/peers/contestant.h"
#include "runtime/device/device.h"

namespace tmm::bench {

// C = A B: alpha is 1 and beta 0, also for a problem that may read C. Padding between rows is NaN.
class FamilyOperands {
public:
    // The operands are f32. The pointers are multiples of the problem's alignment and of no more, from 16 on of 256. Throws std::bad_alloc
    // where memory is short.
    FamilyOperands(std::shared_ptr<Device> device, const GemmProblem& problem);

    void fill(InputFamily family, int draw = 0);
    const GemmProblem& problem() const { return problem_; }
    const void* a() const { return a_.first; }
    const void* b() const { return b_.first; }

    // The elements of C, [batch][m][n]; those that the contestant does not write are NaN.
    std::vector<float> product_of(Contestant& contestant, Stream stream) const;

private:
    struct Matrix {
        Matrix(const std::shared_ptr<Device>& device, i64 elements, int alignment);
        DeviceBuffer memory;
        float* first;
        std::vector<float> stored;
        std::size_t bytes() const { return stored.size() * sizeof(float); }
    };

    std::shared_ptr<Device> device_;
    GemmProblem problem_;
    Matrix a_;
    Matrix b_;
    Matrix c_;
};

}  // namespace tmm::bench
