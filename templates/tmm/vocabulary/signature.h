// The part of a problem that the text of a kernel depends on. It holds no sizes, so that one compiled kernel serves many shapes.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm {

struct KernelSignature {
    ElementType type_a = ElementType::f32;
    ElementType type_b = ElementType::f32;
    ElementType type_c = ElementType::f32;
    ComputeMode compute = ComputeMode::f32;
    Operation op_a = Operation::none;
    Operation op_b = Operation::none;
    // Bytes, a power of two from the element's size to 16: every row of the matrix starts at a multiple of it.
    int align_a = 4;
    int align_b = 4;
    int align_c = 4;
    // 0 where there is no residual.
    int align_residual = 0;
    bool batched = false;
    bool reads_c = false;
    BiasAxis bias = BiasAxis::none;
    Activation activation = Activation::none;
    bool residual = false;
    Epilogue epilogue = Epilogue::none;
    ElementType type_bias = ElementType::f32;
    // The triangle of C that is wanted, lower for symmetric results; full where it makes no difference.
    Result result = Result::full;
    bool pointers = false;

    friend constexpr bool operator==(const KernelSignature&, const KernelSignature&) = default;
};

// The largest power of two up to 16 that divides the pointer's declared alignment and the byte distance of rows and matrices.
constexpr int row_alignment(int pointer_alignment, i64 ld, i64 stride, int element_size) {
    int alignment = 16;
    while (alignment > element_size &&
           (pointer_alignment % alignment != 0 || ld * element_size % alignment != 0 || stride * element_size % alignment != 0))
        alignment /= 2;
    return alignment;
}

// Compute modes that run the same FMAs share one kernel: the mode filters which rows may win, it does not change their text.
constexpr ComputeMode kernel_compute(ComputeMode mode) {
    return mode == ComputeMode::f32_strict ? ComputeMode::f32 : mode;
}

// The lower triangle of a symmetric C is computed.
constexpr Result computed_part(Result result) {
    return result == Result::symmetric ? Result::lower : result;
}

constexpr KernelSignature signature_of(const GemmProblem& p) {
    return KernelSignature{.type_a = p.type_a,
                           .type_b = p.type_b,
                           .type_c = p.type_c,
                           .compute = kernel_compute(p.compute),
                           .op_a = p.op_a,
                           .op_b = p.op_b,
                           .align_a = row_alignment(p.alignment, p.lda, p.stride_a, size_of(p.type_a)),
                           .align_b = row_alignment(p.alignment, p.ldb, p.stride_b, size_of(p.type_b)),
                           .align_c = row_alignment(p.alignment, p.ldc, p.stride_c, size_of(p.type_c)),
                           .align_residual = p.residual ? row_alignment(p.alignment, p.ldr, p.stride_r, size_of(p.type_c)) : 0,
                           .batched = p.batch > 1,
                           .reads_c = p.reads_c,
                           .bias = p.bias,
                           .activation = p.activation,
                           .residual = p.residual,
                           .epilogue = p.epilogue,
                           .type_bias = p.type_bias,
                           .result = computed_part(p.result),
                           .pointers = p.pointers};
}

// The signature of a kernel that leaves its results for others to finish.
constexpr KernelSignature without_epilogue(KernelSignature s) {
    s.bias = BiasAxis::none;
    s.activation = Activation::none;
    s.residual = false;
    s.align_residual = 0;
    s.epilogue = Epilogue::none;
    s.type_bias = ElementType::f32;
    return s;
}

// What is left to do of the epilogue when bias and activation, or an expression, have been applied.
constexpr KernelSignature behind_activation(KernelSignature s) {
    s.bias = BiasAxis::none;
    s.type_bias = ElementType::f32;
    s.activation = Activation::none;
    s.epilogue = epilogue_class(s.bias, s.activation, s.residual);
    return s;
}
// The same when a gate has made one value of two sums.
constexpr KernelSignature behind_gate(const KernelSignature& s) {
    return is_gate(s.activation) ? behind_activation(s) : s;
}
// What bias and activation make before a residual is added.
constexpr KernelSignature before_residual(KernelSignature s) {
    s.residual = false;
    s.align_residual = 0;
    s.epilogue = epilogue_class(s.bias, s.activation, s.residual);
    return s;
}

// Does FMA of floats keep the mode's promise? It is more accurate than tf32.
constexpr bool computes_by_floats(const KernelSignature& s) {
    return s.compute == ComputeMode::f32 || (s.compute == ComputeMode::tf32 && s.type_a == ElementType::f32);
}

// Why a family that multiplies floats, and nothing else, can't serve the types; null where it can.
constexpr const char* float_types_violation(const KernelSignature& s) {
    if (s.type_a != ElementType::f32 || s.type_b != ElementType::f32 || s.type_c != ElementType::f32)
        return "the family multiplies f32 into f32";
    if (!computes_by_floats(s)) return "the family computes in f32";
    return nullptr;
}

}  // namespace tmm
