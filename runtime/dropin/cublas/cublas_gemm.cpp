#include "runtime/dropin/cublas/cublas_gemm.h"

#include "runtime/dropin/settings.h"

namespace tmm::dropin::cublas {
namespace {

bool translate_operation(int op, tmmOperation_t& into) {
    switch (op) {
        case kOpN: into = TMM_NO_TRANS; return true;
        case kOpT:
        case kOpC: into = TMM_TRANS; return true;
        default: return false;
    }
}

// What a product of FP32 promises where TF32 is allowed.
tmmCompute_t where_tf32_is_allowed() {
    return is_tf32_forbidden() ? TMM_COMPUTE_F32 : TMM_COMPUTE_TF32;
}

// The handle's mode changes what an FP32 product promises.
const char* translate_math_mode(int mode, tmmGemmProblem_t& problem) {
    if ((mode & ~(kMathBase | kMathNoReducedPrecision)) != 0) return "its handle's math mode is none that tmm knows";
    switch (mode & kMathBase) {
        case kMathDefault:
        case kMathTensorOp: return nullptr;
        case kMathPedantic:
            // FP64 is multiplied by its own FMAs alone, and INT8 exactly.
            if (problem.type_a == TMM_F64 || problem.type_a == TMM_S8) return nullptr;
            if (problem.type_a != TMM_F32) return "its handle's math mode is pedantic";
            problem.compute = TMM_COMPUTE_F32_STRICT;
            return nullptr;
        case kMathTf32:
            if (problem.type_a == TMM_F32 && problem.compute == TMM_COMPUTE_F32) problem.compute = where_tf32_is_allowed();
            return nullptr;
        default: return "its handle's math mode is none that tmm knows";
    }
}

const char* translate_state(const Behind& behind, Handle handle, Product& product) {
    const auto pointer_mode = reinterpret_cast<GetInt>(behind.others[0]);
    const auto math_mode = reinterpret_cast<GetInt>(behind.others[1]);
    const auto stream = reinterpret_cast<GetStream>(behind.others[2]);
    const auto sm_count_target = reinterpret_cast<GetInt>(behind.others[3]);
    if (!pointer_mode || !math_mode || !stream) return "cuBLAS does not tell the state of its handles";
    int value = -1;
    if (pointer_mode(handle, &value) != kSuccess) return "its handle is none";
    if (value != kPointerHost) return "its scalars are in device memory";
    if (math_mode(handle, &value) != kSuccess) return "its handle is none";
    if (const char* const reason = translate_math_mode(value, product.problem)) return reason;
    if (sm_count_target && sm_count_target(handle, &value) == kSuccess && value != 0) return "its handle bounds the SMs to use";
    if (stream(handle, &product.stream) != kSuccess) return "its handle is none";
    return nullptr;
}

}  // namespace

bool translate_type(int type, tmmType_t& into) noexcept {
    switch (type) {
        case kReal32F: into = TMM_F32; return true;
        case kReal64F: into = TMM_F64; return true;
        case kReal16F: into = TMM_F16; return true;
        case kReal16BF: into = TMM_BF16; return true;
        case kReal8I: into = TMM_S8; return true;
        case kReal32I: into = TMM_S32; return true;
        default: return false;
    }
}

const char* translate_types(int type_a, int type_b, int type_c, tmmGemmProblem_t& p) noexcept {
    constexpr const char* kNoKernels = "tmm has no kernels for its types";
    if (!translate_type(type_a, p.type_a) || !translate_type(type_b, p.type_b) || !translate_type(type_c, p.type_c) || p.type_a != p.type_b)
        return kNoKernels;
    if (p.type_a == TMM_S8) return p.type_c == TMM_S32 ? nullptr : kNoKernels;
    if (p.type_a == TMM_S32) return kNoKernels;
    return p.type_c == p.type_a || (p.type_c == TMM_F32 && p.type_a != TMM_F64) ? nullptr : kNoKernels;
}

const char* translate_operations(int op_a, int op_b, tmmGemmProblem_t& p) noexcept {
    return translate_operation(op_a, p.op_a) && translate_operation(op_b, p.op_b) ? nullptr : "an operation is none that tmm knows";
}

const char* translate_compute(int compute, tmmGemmProblem_t& p) noexcept {
    if ((p.type_a == TMM_F64) != (compute == kCompute64F || compute == kCompute64FPedantic) ||
        (p.type_a == TMM_S8) != (compute == kCompute32I || compute == kCompute32IPedantic))
        return "tmm has no kernels for its compute type";
    switch (compute) {
        // tmm has one mode of FP64, whose products are rounded by FMAs alone, as the pedantic one asks.
        case kCompute64F:
        case kCompute64FPedantic: p.compute = TMM_COMPUTE_F64; return nullptr;
        case kCompute32I:
        case kCompute32IPedantic: p.compute = TMM_COMPUTE_S32; return nullptr;
        case kCompute32F: p.compute = TMM_COMPUTE_F32; return nullptr;
        case kCompute32FFastTf32: p.compute = p.type_a == TMM_F32 ? where_tf32_is_allowed() : TMM_COMPUTE_F32; return nullptr;
        case kCompute32FPedantic:
            // What a tensor core does with 16-bit operands is no FP32 arithmetic in all its phases.
            if (p.type_a != TMM_F32) return "its compute type is pedantic";
            p.compute = TMM_COMPUTE_F32_STRICT;
            return nullptr;
        default: return "tmm has no kernels for its compute type";
    }
}

const char* translate(const Gemm& gemm, Product& product) {
    tmmGemmProblem_t& p = product.problem;
    if (const char* const reason = translate_types(gemm.type_a, gemm.type_b, gemm.type_c, p)) return reason;
    if (const char* const reason = translate_compute(gemm.compute, p)) return reason;
    if (gemm.algorithm != kAlgorithmDefault && gemm.algorithm != kAlgorithmDefaultTensorOp) return "an algorithm is asked for";
    if (const char* const reason = translate_operations(gemm.op_a, gemm.op_b, p)) return reason;
    if (gemm.is_triangle && gemm.result == TMM_RESULT_FULL) return "its fill mode names no triangle";
    if (!gemm.handle || !gemm.alpha || !gemm.beta) return "a pointer is null";
    if (const char* const reason = translate_state(gemm.behind, gemm.handle, product)) return reason;
    p.layout = TMM_COL_MAJOR;
    p.m = gemm.m;
    p.n = gemm.n;
    p.k = gemm.k;
    p.batch = gemm.batch;
    p.lda = gemm.lda;
    p.ldb = gemm.ldb;
    p.ldc = gemm.ldc;
    p.stride_a = gemm.stride_a;
    p.stride_b = gemm.stride_b;
    p.stride_c = gemm.stride_c;
    p.pointer_array = gemm.has_pointers ? 1 : 0;
    p.result = gemm.result;
    product.a = gemm.a;
    product.b = gemm.b;
    product.c = gemm.c;
    if (const char* const reason = why_left_to_cublas(product)) return reason;
    product.alpha = Scalar::at(gemm.alpha, p.compute);
    product.beta = Scalar::at(gemm.beta, p.compute);
    complete(product);
    return nullptr;
}

}  // namespace tmm::dropin::cublas
