// Calls of cuBLAS, and who multiplies them: tmm or the cuBLAS behind.
#pragma once

#include "runtime/dropin/cublas/cublas_gemm.h"
#include "runtime/dropin/cublas/cublas_lt_matmul.h"
#include "runtime/dropin/cublas/device_products.h"

namespace tmm::dropin::cublas {

// Queues the product where it is tmm's to multiply.
Turn turn_of(const Gemm& gemm) noexcept;
Turn turn_of(const LtMatmul& matmul) noexcept;
// Behind cuBLAS's call of a turn that is timed.
void note_turn(const Turn& turn, Status status) noexcept;

// A call that is to be recorded, before cuBLAS multiplies it. Null where it is not.
struct Expected;
Expected* expect(const Gemm& gemm) noexcept;
Expected* expect(const LtMatmul& matmul) noexcept;
// Records it, unless cuBLAS refused, and frees it.
void note(Expected* expected, Status status) noexcept;

}  // namespace tmm::dropin::cublas
