#include "runtime/dropin/record/shape_text.h"

#include <algorithm>

namespace tmm::dropin {
namespace {

const char* name_of(tmmType_t type) {
    switch (type) {
        case TMM_F32: return "f32";
        case TMM_F16: return "f16";
        case TMM_BF16: return "bf16";
        case TMM_F64: return "f64";
        case TMM_S8: return "s8";
        case TMM_S32: return "s32";
    }
    return "unknown";
}

const char* name_of(tmmCompute_t compute) {
    switch (compute) {
        case TMM_COMPUTE_F32: return "f32";
        case TMM_COMPUTE_F32_STRICT: return "f32_strict";
        case TMM_COMPUTE_TF32: return "tf32";
        case TMM_COMPUTE_F64: return "f64";
        case TMM_COMPUTE_S32: return "s32";
    }
    return "unknown";
}

// What a shapes file takes where it says nothing.
tmmCompute_t default_compute(tmmType_t type_a) {
    return type_a == TMM_F64 ? TMM_COMPUTE_F64 : type_a == TMM_S8 ? TMM_COMPUTE_S32 : TMM_COMPUTE_F32;
}
tmmType_t default_type_c(tmmType_t type_a) {
    return type_a == TMM_S8 ? TMM_S32 : type_a;
}

const char* name_of(tmmActivation_t activation) {
    switch (activation) {
        case TMM_ACTIVATION_NONE: return "";
        case TMM_ACTIVATION_RELU: return "relu";
        case TMM_ACTIVATION_GELU: return "gelu";
        case TMM_ACTIVATION_GELU_TANH: return "gelu_tanh";
        case TMM_ACTIVATION_SILU: return "silu";
        case TMM_ACTIVATION_SIGMOID: return "sigmoid";
        case TMM_ACTIVATION_TANH: return "tanh";
        case TMM_ACTIVATION_SWIGLU: return "swiglu";
        case TMM_ACTIVATION_SWIGLU_ROWS: return "swiglu_rows";
    }
    return "unknown";
}

const char* name_of(tmmResult_t result) {
    switch (result) {
        case TMM_RESULT_FULL: return "full";
        case TMM_RESULT_SYMMETRIC: return "symmetric";
        case TMM_RESULT_LOWER: return "lower";
        case TMM_RESULT_UPPER: return "upper";
    }
    return "unknown";
}

void add_epilogue(std::string& text, const tmmGemmProblem_t& p) {
    if (!p.has_bias && p.activation == TMM_ACTIVATION_NONE) return;
    text += " epilogue=";
    if (p.has_bias) text += p.bias_axis == TMM_BIAS_ROWS ? "bias_rows" : "bias";
    if (p.has_bias && p.activation != TMM_ACTIVATION_NONE) text += '+';
    text += name_of(p.activation);
    if (p.has_bias && p.type_bias != p.type_c) text.append(" bias_type=").append(name_of(p.type_bias));
}

void add_number(std::string& text, const char* key, std::int64_t value, std::int64_t usual) {
    if (value != usual) text += key + std::to_string(value);
}

}  // namespace

void set_packed(tmmGemmProblem_t& p) {
    const bool rows = p.layout == TMM_ROW_MAJOR;
    // The length of a stored row (row-major) or column, and how many there are.
    const auto pack = [&](bool transposed, std::int64_t height, std::int64_t width, std::int64_t& ld, std::int64_t& stride) {
        const bool swapped = transposed == rows;
        ld = std::max<std::int64_t>(1, swapped ? height : width);
        stride = p.batch > 1 ? ld * (swapped ? width : height) : 0;
    };
    pack(p.op_a != TMM_NO_TRANS, p.m, p.k, p.lda, p.stride_a);
    pack(p.op_b != TMM_NO_TRANS, p.k, p.n, p.ldb, p.stride_b);
    pack(false, p.m, p.n, p.ldc, p.stride_c);
}

std::string shape_text(const tmmGemmProblem_t& p) {
    std::string text = std::to_string(p.m) + " " + std::to_string(p.n) + " " + std::to_string(p.k);
    if (p.type_a != TMM_F32) text.append(" dtype=").append(name_of(p.type_a));
    if (p.type_b != p.type_a) text.append(" btype=").append(name_of(p.type_b));
    if (p.type_c != default_type_c(p.type_a)) text.append(" ctype=").append(name_of(p.type_c));
    if (p.compute != default_compute(p.type_a)) text.append(" compute=").append(name_of(p.compute));
    if (p.op_a != TMM_NO_TRANS || p.op_b != TMM_NO_TRANS) {
        text += " ops=";
        text += p.op_a == TMM_NO_TRANS ? 'n' : 't';
        text += p.op_b == TMM_NO_TRANS ? 'n' : 't';
    }
    if (p.layout == TMM_COL_MAJOR) text += " layout=col";
    add_number(text, " batch=", p.batch, 1);
    tmmGemmProblem_t packed = p;
    set_packed(packed);
    add_number(text, " lda=", p.lda, packed.lda);
    add_number(text, " ldb=", p.ldb, packed.ldb);
    add_number(text, " ldc=", p.ldc, packed.ldc);
    // A stride that is not given follows from the leading dimension.
    const auto follows = [](std::int64_t stride, std::int64_t packed_ld, std::int64_t ld) { return stride / packed_ld * ld; };
    if (p.batch > 1 && !p.pointer_array) {
        add_number(text, " stride_a=", p.stride_a, follows(packed.stride_a, packed.lda, p.lda));
        add_number(text, " stride_b=", p.stride_b, follows(packed.stride_b, packed.ldb, p.ldb));
        add_number(text, " stride_c=", p.stride_c, follows(packed.stride_c, packed.ldc, p.ldc));
    }
    add_number(text, " align=", p.alignment, 16);
    if (p.reads_c) text += " beta=1";
    add_epilogue(text, p);
    if (p.result != TMM_RESULT_FULL) text.append(" result=").append(name_of(p.result));
    if (p.pointer_array) text += " pointers=1";
    if (p.invariant) text += " invariant=1";
    return text;
}

}  // namespace tmm::dropin
