// A product that a program asks of cuBLAS, in tmm's words.
#pragma once

#include <cstdint>

#include "tmm/tmm.h"

namespace tmm::dropin {

// alpha or beta.
class Scalar {
public:
    Scalar(double number) : double_(number), float_(static_cast<float>(number)) {}
    // Reads what the program gave: a double in a product of doubles, a whole number in one of INT8, and otherwise a float.
    static Scalar at(const void* place, tmmCompute_t compute) {
        if (compute == TMM_COMPUTE_S32) {
            Scalar scalar(*static_cast<const std::int32_t*>(place));
            scalar.whole_ = *static_cast<const std::int32_t*>(place);
            return scalar;
        }
        return compute == TMM_COMPUTE_F64 ? *static_cast<const double*>(place) : *static_cast<const float*>(place);
    }

    bool is_zero() const { return double_ == 0; }
    const void* address_for(tmmCompute_t compute) const {
        if (compute == TMM_COMPUTE_S32) return &whole_;
        return compute == TMM_COMPUTE_F64 ? static_cast<const void*>(&double_) : &float_;
    }

private:
    double double_;
    float float_;
    std::int32_t whole_ = 0;
};

struct Product {
    tmmGemmProblem_t problem;
    Scalar alpha = 1;
    Scalar beta = 0;
    // Arrays of the matrices' addresses where the problem says so.
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    // Null where the problem has none.
    const void* bias = nullptr;
    void* stream = nullptr;
};

// Fills in what follows from the rest: whether C is read, what the pointers are aligned to, no strides where there is one member, and that
// the result is symmetric where a matrix meets its own transpose.
void complete(Product& product) noexcept;

// The pointer is not null and a multiple of an element's size.
bool is_element(const void* pointer, tmmType_t type) noexcept;

// Why cuBLAS would refuse the product, or do nothing: a clause. Null where it would multiply.
const char* why_left_to_cublas(const Product& product) noexcept;

}  // namespace tmm::dropin
