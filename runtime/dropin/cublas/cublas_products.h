// Calls of cuBLAS, and who multiplies them: tmm or the cuBLAS behind.
#pragma once

#include "runtime/dropin/cublas/cublas_gemm.h"
#include "runtime/dropin/cublas/cublas_lt_matmul.h"

namespace tmm::dropin::cublas {

// True where tmm has queued the product; false where cuBLAS is to be called.
bool multiplies(const Gemm& gemm) noexcept;
bool multiplies(const LtMatmul& matmul) noexcept;

// A call that is to be recorded, before cuBLAS multiplies it. Null where it is not.
struct Expected;
Expected* expect(const Gemm& gemm) noexcept;
Expected* expect(const LtMatmul& matmul) noexcept;
// Records it, unless cuBLAS refused, and frees it.
void note(Expected* expected, Status status) noexcept;

}  // namespace tmm::dropin::cublas
