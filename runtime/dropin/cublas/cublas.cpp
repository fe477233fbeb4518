// libtmm_cublas.so: the functions of cuBLAS that multiply matrices. Programs find these before those of the cuBLAS that they are linked
// with (LD_PRELOAD), and every other function, and whatever tmm does not multiply, in that cuBLAS.
#include <cstdint>

#include "runtime/dropin/behind.h"
#include "runtime/dropin/cublas/cublas_products.h"
#include "runtime/dropin/door.h"
#include "runtime/dropin/load.h"
#include "runtime/dropin/settings.h"

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace tmm::dropin;
using namespace tmm::dropin::cublas;

// What cublasSgemm and cublasDgemm say by their names.
template <class Real>
constexpr int kTypeOf = sizeof(Real) == sizeof(double) ? kReal64F : kReal32F;
template <class Real>
constexpr int kComputeOf = sizeof(Real) == sizeof(double) ? kCompute64F : kCompute32F;

// Serves a call of the function behind the symbol. make: the call, given what stands behind; arguments: the program's.
template <class Function, class Make, class... Arguments>
Status serve(NextSymbol& symbol, const void* frame, const void* caller, const Make& make, Arguments... arguments) {
    const Door door = enter_door(frame);
    const Behind next = find_behind(symbol, caller, door);
    // No program calls a function that its cuBLAS does not have.
    const auto behind = [&] { return next.function ? reinterpret_cast<Function*>(next.function)(arguments...) : kNotSupported; };
    Status status = kSuccess;
    if (!door.is_outermost() || settings().mode == Mode::off) {
        status = behind();
    } else if (settings().mode == Mode::record) {
        Expected* const expected = own_work([&]() noexcept { return expect(make(next)); });
        status = behind();
        own_work([&]() noexcept { return note(expected, status), true; });
    } else {
        const Turn turn = own_work([&]() noexcept { return turn_of(make(next)); });
        if (!turn.is_tmms) status = behind();
        if (turn.timed) own_work([&]() noexcept { return note_turn(turn, status), true; });
    }
    leave_door(door);
    return status;
}

}  // namespace

// The symbol of that name, and others of cuBLAS that tell of its handles or of cublasLt's descriptors.
#define TMM_SYMBOL(name) static constinit NextSymbol next_##name(#name, kGettersOfHandles, Names{})
#define TMM_LT_SYMBOL(name) static constinit NextSymbol next_##name(#name, kGettersOfDescriptors, Names{})

// Stands in every function: `gemm` is its call, the rest its arguments.
#define TMM_SERVE(name, gemm, ...) \
    TMM_DOOR_IS_UNWOUND();         \
    return serve<decltype(name)>(  \
        next_##name, __builtin_frame_address(0), __builtin_return_address(0), [&](const Behind& behind) { return gemm; }, __VA_ARGS__)

// The fields of Gemm that the functions have in common, by the names of their arguments.
#define TMM_OPERANDS(name)                                                                                                     \
    .function = #name, .behind = behind, .handle = handle, .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k, .alpha = alpha, \
    .beta = beta, .a = a, .b = b, .c = c
// Fields of calls with arrays of addresses, and of those that ask for one triangle.
#define TMM_ARRAYS(name)                                                                                                       \
    .function = #name, .behind = behind, .handle = handle, .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k, .alpha = alpha, \
    .beta = beta, .a = a, .b = b, .c = const_cast<void*>(static_cast<const void*>(c))
#define TMM_TRIANGLE(name)                                                                                                              \
    .function = #name, .behind = behind, .handle = handle, .op_a = op, .op_b = opposite_of(op), .m = n, .n = n, .k = k, .alpha = alpha, \
    .beta = beta
#define TMM_TYPES_OF(Real) .type_a = kTypeOf<Real>, .type_b = kTypeOf<Real>, .type_c = kTypeOf<Real>
#define TMM_TYPES .type_a = type_a, .type_b = type_b, .type_c = type_c
#define TMM_LEADING_DIMENSIONS .lda = lda, .ldb = ldb, .ldc = ldc
#define TMM_STRIDES .stride_a = stride_a, .stride_b = stride_b, .stride_c = stride_c, .batch = batch

// Real: the type of its numbers; Int: the width of a function's sizes.
#define TMM_GEMM(name, Real, Int)                                                                                                          \
    TMM_SYMBOL(name);                                                                                                                      \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const Real* alpha, const Real* a, Int lda,              \
                           const Real* b, Int ldb, const Real* beta, Real* c, Int ldc) {                                                   \
        TMM_SERVE(name, (Gemm{TMM_OPERANDS(name), TMM_TYPES_OF(Real), TMM_LEADING_DIMENSIONS, .compute = kComputeOf<Real>}), handle, op_a, \
                  op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                                                     \
    }
#define TMM_GEMM_STRIDED(name, Real, Int)                                                                                                 \
    TMM_SYMBOL(name);                                                                                                                     \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const Real* alpha, const Real* a, Int lda,             \
                           long long stride_a, const Real* b, Int ldb, long long stride_b, const Real* beta, Real* c, Int ldc,            \
                           long long stride_c, Int batch) {                                                                               \
        TMM_SERVE(name, (Gemm{TMM_OPERANDS(name), TMM_TYPES_OF(Real), TMM_LEADING_DIMENSIONS, TMM_STRIDES, .compute = kComputeOf<Real>}), \
                  handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch);                 \
    }
#define TMM_SGEMM_EX(name, Int)                                                                                                            \
    TMM_SYMBOL(name);                                                                                                                      \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const float* alpha, const void* a, int type_a, Int lda, \
                           const void* b, int type_b, Int ldb, const float* beta, void* c, int type_c, Int ldc) {                          \
        TMM_SERVE(name, (Gemm{TMM_OPERANDS(name), TMM_TYPES, TMM_LEADING_DIMENSIONS}), handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, \
                  b, type_b, ldb, beta, c, type_c, ldc);                                                                                   \
    }
#define TMM_GEMM_EX(name, Int)                                                                                                             \
    TMM_SYMBOL(name);                                                                                                                      \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const void* a, int type_a, Int lda,  \
                           const void* b, int type_b, Int ldb, const void* beta, void* c, int type_c, Int ldc, int compute,                \
                           int algorithm) {                                                                                                \
        TMM_SERVE(name, (Gemm{TMM_OPERANDS(name), TMM_TYPES, TMM_LEADING_DIMENSIONS, .compute = compute, .algorithm = algorithm}), handle, \
                  op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute, algorithm);                   \
    }
#define TMM_GEMM_STRIDED_EX(name, Int)                                                                                                    \
    TMM_SYMBOL(name);                                                                                                                     \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const void* a, int type_a, Int lda, \
                           long long stride_a, const void* b, int type_b, Int ldb, long long stride_b, const void* beta, void* c,         \
                           int type_c, Int ldc, long long stride_c, Int batch, int compute, int algorithm) {                              \
        TMM_SERVE(name,                                                                                                                   \
                  (Gemm{TMM_OPERANDS(name), TMM_TYPES, TMM_LEADING_DIMENSIONS, TMM_STRIDES, .compute = compute, .algorithm = algorithm}), \
                  handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, \
                  batch, compute, algorithm);                                                                                             \
    }

// A batch by arrays of its matrices' addresses.
#define TMM_GEMM_BATCHED(name, Real, Int)                                                                                            \
    TMM_SYMBOL(name);                                                                                                                \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const Real* alpha, const Real* const* a, Int lda, \
                           const Real* const* b, Int ldb, const Real* beta, Real* const* c, Int ldc, Int batch) {                    \
        TMM_SERVE(name,                                                                                                              \
                  (Gemm{TMM_ARRAYS(name), TMM_TYPES_OF(Real), TMM_LEADING_DIMENSIONS, .batch = batch, .compute = kComputeOf<Real>,   \
                        .has_pointers = true}),                                                                                      \
                  handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch);                                          \
    }
#define TMM_GEMM_BATCHED_EX(name, Int)                                                                                                   \
    TMM_SYMBOL(name);                                                                                                                    \
    TMM_EXPORT Status name(Handle handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const void* const* a, int type_a,  \
                           Int lda, const void* const* b, int type_b, Int ldb, const void* beta, void* const* c, int type_c, Int ldc,    \
                           Int batch, int compute, int algorithm) {                                                                      \
        TMM_SERVE(name,                                                                                                                  \
                  (Gemm{TMM_ARRAYS(name), TMM_TYPES, TMM_LEADING_DIMENSIONS, .batch = batch, .compute = compute, .algorithm = algorithm, \
                        .has_pointers = true}),                                                                                          \
                  handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, batch, compute, algorithm);  \
    }
// One triangle of a matrix times its transpose; of two matrices whose product the caller knows to be symmetric.
#define TMM_SYRK(name, Real, Int)                                                                                                      \
    TMM_SYMBOL(name);                                                                                                                  \
    TMM_EXPORT Status name(Handle handle, int fill, int op, Int n, Int k, const Real* alpha, const Real* a, Int lda, const Real* beta, \
                           Real* c, Int ldc) {                                                                                         \
        TMM_SERVE(name,                                                                                                                \
                  (Gemm{TMM_TRIANGLE(name), .a = a, .b = a, .c = c, TMM_TYPES_OF(Real), .lda = lda, .ldb = lda, .ldc = ldc,            \
                        .compute = kComputeOf<Real>, .is_triangle = true, .result = triangle_of(fill)}),                               \
                  handle, fill, op, n, k, alpha, a, lda, beta, c, ldc);                                                                \
    }
#define TMM_SYRKX(name, Real, Int)                                                                                                  \
    TMM_SYMBOL(name);                                                                                                               \
    TMM_EXPORT Status name(Handle handle, int fill, int op, Int n, Int k, const Real* alpha, const Real* a, Int lda, const Real* b, \
                           Int ldb, const Real* beta, Real* c, Int ldc) {                                                           \
        TMM_SERVE(name,                                                                                                             \
                  (Gemm{TMM_TRIANGLE(name), .a = a, .b = b, .c = c, TMM_TYPES_OF(Real), TMM_LEADING_DIMENSIONS,                     \
                        .compute = kComputeOf<Real>, .is_triangle = true, .result = triangle_of(fill)}),                            \
                  handle, fill, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                                     \
    }

TMM_GEMM(cublasSgemm_v2, float, int)
TMM_GEMM(cublasSgemm_v2_64, float, std::int64_t)
TMM_GEMM_STRIDED(cublasSgemmStridedBatched, float, int)
TMM_GEMM_STRIDED(cublasSgemmStridedBatched_64, float, std::int64_t)
TMM_GEMM(cublasDgemm_v2, double, int)
TMM_GEMM(cublasDgemm_v2_64, double, std::int64_t)
TMM_GEMM_STRIDED(cublasDgemmStridedBatched, double, int)
TMM_GEMM_STRIDED(cublasDgemmStridedBatched_64, double, std::int64_t)
TMM_SGEMM_EX(cublasSgemmEx, int)
TMM_SGEMM_EX(cublasSgemmEx_64, std::int64_t)
TMM_GEMM_EX(cublasGemmEx, int)
TMM_GEMM_EX(cublasGemmEx_64, std::int64_t)
TMM_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
TMM_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, std::int64_t)
TMM_GEMM_BATCHED(cublasSgemmBatched, float, int)
TMM_GEMM_BATCHED(cublasSgemmBatched_64, float, std::int64_t)
TMM_GEMM_BATCHED(cublasDgemmBatched, double, int)
TMM_GEMM_BATCHED(cublasDgemmBatched_64, double, std::int64_t)
TMM_GEMM_BATCHED_EX(cublasGemmBatchedEx, int)
TMM_GEMM_BATCHED_EX(cublasGemmBatchedEx_64, std::int64_t)
TMM_SYRK(cublasSsyrk_v2, float, int)
TMM_SYRK(cublasSsyrk_v2_64, float, std::int64_t)
TMM_SYRK(cublasDsyrk_v2, double, int)
TMM_SYRK(cublasDsyrk_v2_64, double, std::int64_t)
TMM_SYRKX(cublasSsyrkx, float, int)
TMM_SYRKX(cublasSsyrkx_64, float, std::int64_t)
TMM_SYRKX(cublasDsyrkx, double, int)
TMM_SYRKX(cublasDsyrkx_64, double, std::int64_t)

TMM_LT_SYMBOL(cublasLtMatmul);
TMM_EXPORT Status cublasLtMatmul(LtHandle handle, LtDescriptor product, const void* alpha, const void* a, LtDescriptor layout_a,
                                 const void* b, LtDescriptor layout_b, const void* beta, const void* c, LtDescriptor layout_c, void* d,
                                 LtDescriptor layout_d, const void* algorithm, void* workspace, std::size_t workspace_size, Stream stream) {
    TMM_SERVE(cublasLtMatmul,
              (LtMatmul{.behind = behind,
                        .product = product,
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
                        .stream = stream}),
              handle, product, alpha, a, layout_a, b, layout_b, beta, c, layout_c, d, layout_d, algorithm, workspace, workspace_size,
              stream);
}

#define TMM_BOTH_WIDTHS(name) &next_##name, &next_##name##_64
__attribute__((constructor)) static void load() {
    at_load({TMM_BOTH_WIDTHS(cublasSgemm_v2), TMM_BOTH_WIDTHS(cublasDgemm_v2), TMM_BOTH_WIDTHS(cublasSgemmStridedBatched),
             TMM_BOTH_WIDTHS(cublasDgemmStridedBatched), TMM_BOTH_WIDTHS(cublasSgemmEx), TMM_BOTH_WIDTHS(cublasGemmEx),
             TMM_BOTH_WIDTHS(cublasGemmStridedBatchedEx), TMM_BOTH_WIDTHS(cublasSgemmBatched), TMM_BOTH_WIDTHS(cublasDgemmBatched),
             TMM_BOTH_WIDTHS(cublasGemmBatchedEx), TMM_BOTH_WIDTHS(cublasSsyrk_v2), TMM_BOTH_WIDTHS(cublasDsyrk_v2),
             TMM_BOTH_WIDTHS(cublasSsyrkx), TMM_BOTH_WIDTHS(cublasDsyrkx), &next_cublasLtMatmul});
}
