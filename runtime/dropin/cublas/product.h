// A product that a program asks of cuBLAS, in tmm's words.
#pragma once

#include <cstdint>

#include "tmm/tmm.h"

namespace tmm::dropin {

struct Product {
    tmmGemmProblem_t problem;
    float alpha = 1;
    float beta = 0;
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    // Null where the problem has none.
    const void* bias = nullptr;
    void* stream = nullptr;
};

// Fills in what follows from the rest: whether C is read, what the pointers are aligned to, and no strides where there is one member.
void complete(Product& product) noexcept;

// The pointer is not null and a multiple of an element's size.
bool is_element(const void* pointer, tmmType_t type) noexcept;

// Why cuBLAS would refuse the product, or do nothing: a clause. Null where it would multiply.
const char* why_left_to_cublas(const Product& product) noexcept;

}  // namespace tmm::dropin
