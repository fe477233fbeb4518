// What the functions of cuBLAS that multiply matrices have in common.
#pragma once

#include <cstdint>

#include "runtime/dropin/behind.h"
#include "runtime/dropin/cublas/cublas_abi.h"
#include "runtime/dropin/cublas/product.h"

namespace tmm::dropin::cublas {

// The functions that tell the state of handles, which only cuBLAS knows. The last exists since 11.6 or so; without it no program sets the
// target.
inline constexpr Names kGettersOfHandles{"cublasGetPointerMode_v2", "cublasGetMathMode", "cublasGetStream_v2", "cublasGetSmCountTarget"};

// What cublasSsyrk says by its fill mode, TMM_RESULT_FULL where that names no triangle; and the operation that its matrix is multiplied
// with besides, which is none that tmm knows where the given one is.
constexpr tmmResult_t triangle_of(int fill) {
    return fill == kFillLower ? TMM_RESULT_LOWER : fill == kFillUpper ? TMM_RESULT_UPPER : TMM_RESULT_FULL;
}
constexpr int opposite_of(int op) {
    return op == kOpN ? kOpT : op == kOpT || op == kOpC ? kOpN : op;
}

// The arguments, as the program gave them.
struct Gemm {
    // The function, for the log, and what stands behind it.
    const char* function;
    const Behind& behind;
    Handle handle;
    int op_a;
    int op_b;
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
    const void* alpha;
    const void* beta;
    // Arrays of the matrices' addresses with has_pointers.
    const void* a;
    const void* b;
    void* c;
    int type_a = kReal32F;
    int type_b = kReal32F;
    int type_c = kReal32F;
    std::int64_t lda;
    std::int64_t ldb;
    std::int64_t ldc;
    std::int64_t stride_a = 0;
    std::int64_t stride_b = 0;
    std::int64_t stride_c = 0;
    std::int64_t batch = 1;
    int compute = kCompute32F;
    int algorithm = kAlgorithmDefault;
    bool has_pointers = false;
    // One triangle of C is asked for, which is the result.
    bool is_triangle = false;
    tmmResult_t result = TMM_RESULT_FULL;
};

// Turns a call into a product. Returns why tmm does not multiply it, a clause, or null where it may. Throws std::bad_alloc.
const char* translate(const Gemm& gemm, Product& product);

// What the other functions share.
bool translate_type(int type, tmmType_t& into) noexcept;
const char* translate_types(int type_a, int type_b, int type_c, tmmGemmProblem_t& problem) noexcept;
const char* translate_operations(int op_a, int op_b, tmmGemmProblem_t& problem) noexcept;
// The types must have been translated.
const char* translate_compute(int compute, tmmGemmProblem_t& problem) noexcept;

}  // namespace tmm::dropin::cublas
