// libtmm_cublas.so: the functions of cuBLAS that multiply matrices. Programs find these before those of the cuBLAS that they are linked
// with (LD_PRELOAD), and every other function, and whatever tmm does not multiply, in that cuBLAS.
#include <cstdint>

#include "runtime/dropin/behind.h"
#include "runtime/dropin/cublas/cublas_products.h"

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace tmm::dropin;
using namespace tmm::dropin::cublas;

// Calls the function of the cuBLAS behind. No program calls one that its cuBLAS does not have.
template <class Function, class... Arguments>
Status call(Function* function, Arguments... arguments) {
    return function ? function(arguments...) : kNotSupported;
}

}  // namespace

// The function of the same name and type behind.
#define TMM_BEHIND(name) static const auto next = reinterpret_cast<decltype(&name)>(function_behind(#name))

// The fields of Gemm that the functions have in common, by the names of their arguments.
#define TMM_OPERANDS(name)                                                                                                                 \
    .function = #name, .handle = handle, .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .a = a, .b = b, \
    .c = c
#define TMM_TYPES .type_a = type_a, .type_b = type_b, .type_c = type_c
#define TMM_LEADING_DIMENSIONS .lda = lda, .ldb = ldb, .ldc = ldc
#define TMM_STRIDES .stride_a = stride_a, .stride_b = stride_b, .stride_c = stride_c, .batch = batch

// Int: the width of a function's sizes.
#define TMM_SGEMM(name, Int)                                                                                                    \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const float* alpha, const float* a, Int lda, \
                           const float* b, Int ldb, const float* beta, float* c, Int ldc) {                                     \
        TMM_BEHIND(name);                                                                                                       \
        const Gemm gemm{TMM_OPERANDS(name), TMM_LEADING_DIMENSIONS};                                                            \
        return multiply(gemm, [&] { return call(next, handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });    \
    }
#define TMM_SGEMM_STRIDED(name, Int)                                                                                                  \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const float* alpha, const float* a, Int lda,       \
                           long long stride_a, const float* b, Int ldb, long long stride_b, const float* beta, float* c, Int ldc,     \
                           long long stride_c, Int batch) {                                                                           \
        TMM_BEHIND(name);                                                                                                             \
        const Gemm gemm{TMM_OPERANDS(name), TMM_LEADING_DIMENSIONS, TMM_STRIDES};                                                     \
        return multiply(gemm, [&] {                                                                                                   \
            return call(next, handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch); \
        });                                                                                                                           \
    }
#define TMM_SGEMM_EX(name, Int)                                                                                                            \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const float* alpha, const void* a, int type_a, Int lda, \
                           const void* b, int type_b, Int ldb, const float* beta, void* c, int type_c, Int ldc) {                          \
        TMM_BEHIND(name);                                                                                                                  \
        const Gemm gemm{TMM_OPERANDS(name), TMM_TYPES, TMM_LEADING_DIMENSIONS};                                                            \
        return multiply(                                                                                                                   \
            gemm, [&] { return call(next, handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc); });   \
    }
#define TMM_GEMM_EX(name, Int)                                                                                                            \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const void* a, int type_a, Int lda, \
                           const void* b, int type_b, Int ldb, const void* beta, void* c, int type_c, Int ldc, int compute,               \
                           int algorithm) {                                                                                               \
        TMM_BEHIND(name);                                                                                                                 \
        const Gemm gemm{TMM_OPERANDS(name), TMM_TYPES, TMM_LEADING_DIMENSIONS, .compute = compute, .algorithm = algorithm};               \
        return multiply(gemm, [&] {                                                                                                       \
            return call(next, handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute,          \
                        algorithm);                                                                                                       \
        });                                                                                                                               \
    }
#define TMM_GEMM_STRIDED_EX(name, Int)                                                                                                    \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const void* a, int type_a, Int lda, \
                           long long stride_a, const void* b, int type_b, Int ldb, long long stride_b, const void* beta, void* c,         \
                           int type_c, Int ldc, long long stride_c, Int batch, int compute, int algorithm) {                              \
        TMM_BEHIND(name);                                                                                                                 \
        const Gemm gemm{TMM_OPERANDS(name), TMM_TYPES, TMM_LEADING_DIMENSIONS, TMM_STRIDES, .compute = compute, .algorithm = algorithm};  \
        return multiply(gemm, [&] {                                                                                                       \
            return call(next, handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, c, type_c,    \
                        ldc, stride_c, batch, compute, algorithm);                                                                        \
        });                                                                                                                               \
    }

TMM_SGEMM(cublasSgemm_v2, int)
TMM_SGEMM(cublasSgemm_v2_64, std::int64_t)
TMM_SGEMM_STRIDED(cublasSgemmStridedBatched, int)
TMM_SGEMM_STRIDED(cublasSgemmStridedBatched_64, std::int64_t)
TMM_SGEMM_EX(cublasSgemmEx, int)
TMM_SGEMM_EX(cublasSgemmEx_64, std::int64_t)
TMM_GEMM_EX(cublasGemmEx, int)
TMM_GEMM_EX(cublasGemmEx_64, std::int64_t)
TMM_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
TMM_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, std::int64_t)

TMM_EXPORT Status cublasLtMatmul(LtHandle handle, LtDescriptor product, const void* alpha, const void* a, LtDescriptor layout_a,
                                 const void* b, LtDescriptor layout_b, const void* beta, const void* c, LtDescriptor layout_c, void* d,
                                 LtDescriptor layout_d, const void* algorithm, void* workspace, std::size_t workspace_size, Stream stream) {
    TMM_BEHIND(cublasLtMatmul);
    const LtMatmul matmul{.product = product,
                          .alpha = alpha,
                          .a = a,
                          .layout_a = layout_a,
                          .b = b,
                          .layout_b = layout_b,
                          .beta = beta,
                          .c = c,
                          .layout_c = layout_c,
                          .d = d,
                          .layout_d = layout_d,
                          .stream = stream};
    return multiply(matmul, [&] {
        return call(next, handle, product, alpha, a, layout_a, b, layout_b, beta, c, layout_c, d, layout_d, algorithm, workspace,
                    workspace_size, stream);
    });
}
