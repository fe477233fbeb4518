// The vocabulary of what is asked of tmm, a matrix multiplication: C = epilogue(alpha * op(A) * op(B) + beta * C). The file is read by g++,
// clang and NVRTC alike, so it includes nothing.
#pragma once

namespace tmm {

using i64 = long long;

// Values are stored in databases, so that new ones are only appended.
enum class ElementType : int { f32 = 0, f16 = 1, bf16 = 2, f64 = 3, s8 = 4, s32 = 5 };
enum class ComputeMode : int { f32 = 0, f32_strict = 1, tf32 = 2, f64 = 3, s32 = 4 };
enum class Operation : int { none = 0, transpose = 1 };
// What an epilogue amounts to: a bias or a residual alone, an activation with or without these, or an expression of the caller's.
enum class Epilogue : int { none = 0, bias = 1, activation = 2, custom = 3 };
// swiglu is a gate (Shazeer, arXiv 2002.05202): op(B) has the columns of two products, and C has silu of the first times the second. With
// swiglu_rows op(A) has the rows of two products.
enum class Activation : int { none = 0, relu = 1, gelu = 2, gelu_tanh = 3, silu = 4, sigmoid = 5, tanh = 6, swiglu = 7, swiglu_rows = 8 };
// What of C a product makes (BLAS's syrk and gemmt). symmetric: the caller knows that C is; one triangle is computed, and the other mirrors
// it. lower, upper: the other triangle is neither read nor written. The diagonal belongs to both.
enum class Result : int { full = 0, symmetric = 1, lower = 2, upper = 3 };
// Along which of C's axes a bias has its elements: one for each column, or one for each row.
enum class BiasAxis : int { none = 0, columns = 1, rows = 2 };

constexpr int size_of(ElementType type) {
    switch (type) {
        case ElementType::s8: return 1;
        case ElementType::f32:
        case ElementType::s32: return 4;
        case ElementType::f16:
        case ElementType::bf16: return 2;
        case ElementType::f64: return 8;
    }
    return 0;
}

constexpr bool is_16_bit(ElementType type) {
    return type == ElementType::f16 || type == ElementType::bf16;
}

// The look-up key of a multiplication, always row-major: op(A) is m x k, op(B) is k x n, C is m x n; and element (i, j) of a stored matrix
// stands at i * ld + j. With a gate C is m x n / 2, and the first n / 2 columns of op(B) are the gate's, or it is m / 2 x n, and the first
// m / 2 rows of op(A) are. A stored as k x m is op_a = transpose, B stored as n x k is op_b = transpose. Leading dimensions and strides
// count elements. It holds no tile and no value of alpha or beta.
struct GemmProblem {
    i64 m = 0;
    i64 n = 0;
    i64 k = 0;
    i64 batch = 1;
    ElementType type_a = ElementType::f32;
    ElementType type_b = ElementType::f32;
    ElementType type_c = ElementType::f32;
    ComputeMode compute = ComputeMode::f32;
    Operation op_a = Operation::none;
    Operation op_b = Operation::none;
    i64 lda = 0;
    i64 ldb = 0;
    i64 ldc = 0;
    // Distance between the matrices of neighbouring batch members; 0 where batch is 1.
    i64 stride_a = 0;
    i64 stride_b = 0;
    i64 stride_c = 0;
    // The caller's promise about a, b and c: each pointer is a multiple of this many bytes.
    int alignment = 16;
    // Whether C is read: beta may differ from 0.
    bool reads_c = false;
    // What follows says how x = alpha * op(A) * op(B) + beta * C becomes C = round(activation(x + bias) + residual), or that an expression,
    // which is no part of the problem, says it.
    BiasAxis bias = BiasAxis::none;
    Activation activation = Activation::none;
    // The residual is a matrix of C's type and size, and its batch has C's members.
    bool residual = false;
    Epilogue epilogue = Epilogue::none;
    // f32 where there is no bias; 0 where there is no residual.
    ElementType type_bias = ElementType::f32;
    i64 ldr = 0;
    i64 stride_r = 0;
    // Other results than full are square.
    Result result = Result::full;
    // Matrices of the batch stand anywhere: a call gives an array of their addresses for each of A, B and C, in the device's memory.
    // Strides of the three are 0 then.
    bool pointers = false;
    // A promise: the bits of a row of C hang on that row of op(A), on op(B) and on the device's model, whatever m, the batch and the other
    // rows are.
    bool invariant = false;

    friend constexpr bool operator==(const GemmProblem&, const GemmProblem&) = default;
};

// The class of an epilogue without an expression.
constexpr Epilogue epilogue_class(BiasAxis bias, Activation activation, bool residual) {
    if (activation != Activation::none) return Epilogue::activation;
    return bias != BiasAxis::none || residual ? Epilogue::bias : Epilogue::none;
}

constexpr bool gates_columns(Activation activation) {
    return activation == Activation::swiglu;
}
constexpr bool gates_rows(Activation activation) {
    return activation == Activation::swiglu_rows;
}
constexpr bool is_gate(Activation activation) {
    return gates_columns(activation) || gates_rows(activation);
}
// The same gate along the other axis.
constexpr Activation across(Activation activation) {
    if (activation == Activation::swiglu) return Activation::swiglu_rows;
    return activation == Activation::swiglu_rows ? Activation::swiglu : activation;
}
// How many columns, or rows, of the product make one of C.
constexpr i64 products_of_column(Activation activation) {
    return gates_columns(activation) ? 2 : 1;
}
constexpr i64 products_of_row(Activation activation) {
    return gates_rows(activation) ? 2 : 1;
}
constexpr i64 columns_of_c(const GemmProblem& p) {
    return p.n / products_of_column(p.activation);
}
constexpr i64 rows_of_c(const GemmProblem& p) {
    return p.m / products_of_row(p.activation);
}
// A bias has an element for each column, or row, of the product.
constexpr i64 elements_of_bias(const GemmProblem& p) {
    if (p.bias == BiasAxis::none) return 0;
    return p.bias == BiasAxis::rows ? p.m : p.n;
}

// The other triangle of C's transpose.
constexpr Result transposed(Result result) {
    if (result == Result::lower) return Result::upper;
    return result == Result::upper ? Result::lower : result;
}

// Rows and columns of A and B as they are stored.
constexpr i64 stored_rows_a(const GemmProblem& p) {
    return p.op_a == Operation::none ? p.m : p.k;
}
constexpr i64 stored_columns_a(const GemmProblem& p) {
    return p.op_a == Operation::none ? p.k : p.m;
}
constexpr i64 stored_rows_b(const GemmProblem& p) {
    return p.op_b == Operation::none ? p.k : p.n;
}
constexpr i64 stored_columns_b(const GemmProblem& p) {
    return p.op_b == Operation::none ? p.n : p.k;
}

}  // namespace tmm
