// The checks come in this order: enumerators, sizes, leading dimensions, strides, support, pointers; the first fault is reported.
#include "runtime/api/validate.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "generator/choice/validity.h"
#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/text.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

template <typename... Arguments>
[[noreturn]] void refuse(tmmStatus_t status, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    throw StatusError(status, fmt::format(format, std::forward<Arguments>(arguments)...));
}

Operation check_operation(tmmOperation_t op, const char* name) {
    switch (op) {
        case TMM_NO_TRANS: return Operation::none;
        case TMM_TRANS:
        case TMM_CONJ_TRANS: return Operation::transpose;
    }
    refuse(TMM_STATUS_INVALID_OPERATION, "{} is {}, none of TMM_NO_TRANS (111), TMM_TRANS (112), TMM_CONJ_TRANS (113)", name,
           static_cast<int>(op));
}

ElementType check_type(tmmType_t type, const char* name) {
    switch (type) {
        case TMM_F32: return ElementType::f32;
        case TMM_F16: return ElementType::f16;
        case TMM_BF16: return ElementType::bf16;
        case TMM_F64: return ElementType::f64;
        case TMM_S8: return ElementType::s8;
        case TMM_S32: return ElementType::s32;
    }
    refuse(TMM_STATUS_INVALID_TYPE, "{} is {}, no tmmType_t", name, static_cast<int>(type));
}

ComputeMode check_compute(tmmCompute_t compute) {
    switch (compute) {
        case TMM_COMPUTE_F32: return ComputeMode::f32;
        case TMM_COMPUTE_F32_STRICT: return ComputeMode::f32_strict;
        case TMM_COMPUTE_TF32: return ComputeMode::tf32;
        case TMM_COMPUTE_F64: return ComputeMode::f64;
        case TMM_COMPUTE_S32: return ComputeMode::s32;
    }
    refuse(TMM_STATUS_INVALID_COMPUTE, "compute is {}, no tmmCompute_t", static_cast<int>(compute));
}

Epilogue check_epilogue(tmmEpilogue_t epilogue) {
    switch (epilogue) {
        case TMM_EPILOGUE_NONE: return Epilogue::none;
        case TMM_EPILOGUE_BIAS: return Epilogue::bias;
        case TMM_EPILOGUE_ACTIVATION: return Epilogue::activation;
        case TMM_EPILOGUE_CUSTOM: return Epilogue::custom;
    }
    refuse(TMM_STATUS_INVALID_EPILOGUE, "epilogue is {}, no tmmEpilogue_t", static_cast<int>(epilogue));
}

Activation check_activation(tmmActivation_t activation) {
    switch (activation) {
        case TMM_ACTIVATION_NONE: return Activation::none;
        case TMM_ACTIVATION_RELU: return Activation::relu;
        case TMM_ACTIVATION_GELU: return Activation::gelu;
        case TMM_ACTIVATION_GELU_TANH: return Activation::gelu_tanh;
        case TMM_ACTIVATION_SILU: return Activation::silu;
        case TMM_ACTIVATION_SIGMOID: return Activation::sigmoid;
        case TMM_ACTIVATION_TANH: return Activation::tanh;
        case TMM_ACTIVATION_SWIGLU: return Activation::swiglu;
        case TMM_ACTIVATION_SWIGLU_ROWS: return Activation::swiglu_rows;
    }
    refuse(TMM_STATUS_INVALID_ACTIVATION, "activation is {}, no tmmActivation_t", static_cast<int>(activation));
}

BiasAxis check_bias_axis(tmmBiasAxis_t axis) {
    switch (axis) {
        case TMM_BIAS_COLUMNS: return BiasAxis::columns;
        case TMM_BIAS_ROWS: return BiasAxis::rows;
    }
    refuse(TMM_STATUS_INVALID_BIAS_AXIS, "bias_axis is {}, neither TMM_BIAS_COLUMNS (0) nor TMM_BIAS_ROWS (1)", static_cast<int>(axis));
}

Result check_result(tmmResult_t result) {
    switch (result) {
        case TMM_RESULT_FULL: return Result::full;
        case TMM_RESULT_SYMMETRIC: return Result::symmetric;
        case TMM_RESULT_LOWER: return Result::lower;
        case TMM_RESULT_UPPER: return Result::upper;
    }
    refuse(TMM_STATUS_INVALID_RESULT, "result is {}, no tmmResult_t", static_cast<int>(result));
}

// The struct's size in a program that was compiled before results other than full, and arrays of pointers, existed.
constexpr std::size_t kSizeWithoutResult = offsetof(tmmGemmProblem_t, result);

// The struct's size in a program that was compiled before epilogues existed.
constexpr std::size_t kSizeWithoutEpilogue = offsetof(tmmGemmProblem_t, activation);

bool has_epilogue_fields(const tmmGemmProblem_t& p) {
    return p.struct_size > kSizeWithoutEpilogue;
}

Epilogue class_of(const tmmGemmProblem_t& given, const GemmProblem& p) {
    const Epilogue said = check_epilogue(given.epilogue);
    const Epilogue made = epilogue_class(p.bias, p.activation, p.residual);
    if (said == Epilogue::custom && p.activation != Activation::none)
        refuse(TMM_STATUS_INVALID_EPILOGUE, "epilogue is TMM_EPILOGUE_CUSTOM, whose expression says everything, but activation is {}",
               static_cast<int>(given.activation));
    if (said != Epilogue::none && said != Epilogue::custom && said != made)
        refuse(TMM_STATUS_INVALID_EPILOGUE, "epilogue is {}, but has_bias, activation and has_residual amount to {}",
               static_cast<int>(said), static_cast<int>(made));
    return said == Epilogue::custom ? said : made;
}

Expression check_expression(const tmmGemmProblem_t& p) {
    const char* const text = has_epilogue_fields(p) ? p.expression : nullptr;
    if (p.epilogue != TMM_EPILOGUE_CUSTOM) {
        if (text) refuse(TMM_STATUS_INVALID_EXPRESSION, "expression is not null, but epilogue is not TMM_EPILOGUE_CUSTOM");
        return {};
    }
    if (!text) refuse(TMM_STATUS_INVALID_EXPRESSION, "epilogue is TMM_EPILOGUE_CUSTOM, but expression is null");
    if (const auto reason = why_no_expression(text)) refuse(TMM_STATUS_INVALID_EXPRESSION, "expression is no expression: {}", *reason);
    return {.text = text, .column_major = p.layout == TMM_COL_MAJOR};
}

// The fields of an epilogue but its class, row-major or not as the caller's matrices are.
void take_epilogue(const tmmGemmProblem_t& given, GemmProblem& p) {
    if (has_epilogue_fields(given)) {
        p.activation = check_activation(given.activation);
        const BiasAxis axis = check_bias_axis(given.bias_axis);
        const ElementType type_bias = check_type(given.type_bias, "type_bias");
        if (given.has_bias) {
            p.bias = axis;
            p.type_bias = type_bias;
        }
        p.residual = given.has_residual != 0;
    }
    p.epilogue = class_of(given, p);
}

void check_gate(const tmmGemmProblem_t& p, const GemmProblem& epilogue) {
    if (!is_gate(epilogue.activation)) return;
    const bool of_rows = gates_rows(epilogue.activation);
    if (p.reads_c)
        refuse(TMM_STATUS_UNSUPPORTED_EPILOGUE, "{} does not read C: leave reads_c 0",
               of_rows ? "TMM_ACTIVATION_SWIGLU_ROWS" : "TMM_ACTIVATION_SWIGLU");
    const std::int64_t size = of_rows ? p.m : p.n;
    if (size > std::numeric_limits<std::int64_t>::max() / 2)
        refuse(TMM_STATUS_TOO_LARGE, "{} is {}, and twice as many {} do not fit 63 bits", of_rows ? "m" : "n", size,
               of_rows ? "rows of A" : "columns of B");
}

void check_size(std::int64_t size, const char* name, tmmStatus_t status) {
    if (size < 0) refuse(status, "{} is {}; a size is at least 0", name, size);
}

void check_leading_dimension(std::int64_t ld, std::int64_t stored_length, bool row_major, const char* name, tmmStatus_t status) {
    const std::int64_t shortest = std::max<std::int64_t>(1, stored_length);
    if (ld < shortest)
        refuse(status, "{} is {}, but a stored {} of the matrix takes {} elements", name, ld, row_major ? "row" : "column", shortest);
}

// The bytes from the first element of the first matrix past the last of the last must be a number.
void check_extent(const MatrixLayout& layout, const char* name) {
    if (!extent_in_bytes(layout)) refuse(TMM_STATUS_TOO_LARGE, "the extent of {} in bytes does not fit 63 bits", name);
}

void check_support(const GemmProblem& p, bool swapped) {
    if (!serves_types(p)) {
        const std::string bias = p.bias == BiasAxis::none ? std::string() : fmt::format(", with a bias of {}", name_of(p.type_bias));
        refuse(
            TMM_STATUS_UNSUPPORTED_TYPE,
            "A has elements of {}, B of {} and C of {}{}, but this version of tmm has kernels for A and B of one type, TMM_F32, TMM_F16 or "
            "TMM_BF16, C of that type or TMM_F32, and a bias of one of the three; for all of TMM_F64; or for A and B of TMM_S8 and C of "
            "TMM_S32",
            name_of(swapped ? p.type_b : p.type_a), name_of(swapped ? p.type_a : p.type_b), name_of(p.type_c), bias);
    }
    if (!serves_mode(p))
        refuse(
            TMM_STATUS_UNSUPPORTED_COMPUTE,
            "this version of tmm computes with TMM_F32 in TMM_COMPUTE_F32, TMM_COMPUTE_F32_STRICT and TMM_COMPUTE_TF32, with TMM_F16 and "
            "TMM_BF16 in TMM_COMPUTE_F32, with TMM_F64 in TMM_COMPUTE_F64, and with TMM_S8 in TMM_COMPUTE_S32 only");
    if (p.type_a == ElementType::s8 && p.epilogue != Epilogue::none)
        refuse(TMM_STATUS_UNSUPPORTED_EPILOGUE,
               "bias, activation, residual and expressions are computed in floats, and products of TMM_S8 in TMM_S32");
}

double scalar(const void* value, ElementType type) {
    switch (type) {
        case ElementType::f64: return *static_cast<const double*>(value);
        case ElementType::s32: return *static_cast<const std::int32_t*>(value);
        default: return static_cast<double>(*static_cast<const float*>(value));
    }
}

void check_pointer(const void* pointer, int element_size, const char* name, tmmStatus_t null_status) {
    if (!pointer) refuse(null_status, "{} is null", name);
    if (reinterpret_cast<std::uintptr_t>(pointer) % static_cast<unsigned>(element_size) != 0)
        refuse(TMM_STATUS_MISALIGNED_POINTER, "{} is {}, no multiple of its element's {} bytes", name, pointer, element_size);
}

// The struct's size in a program that was compiled before the field existed.
constexpr std::size_t kSizeWithoutMaxWorkspace = offsetof(tmmGemmProblem_t, max_workspace);

std::int64_t most_workspace(const tmmGemmProblem_t& p) {
    if (p.struct_size == kSizeWithoutMaxWorkspace) return kAnyWorkspace;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(p.max_workspace, static_cast<std::uint64_t>(kAnyWorkspace)));
}

void check_block(const void* pointer, const char* name, tmmStatus_t status) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % TMM_WORKSPACE_ALIGNMENT != 0)
        refuse(status, "{} is {}, no multiple of {} bytes", name, pointer, TMM_WORKSPACE_ALIGNMENT);
}

// The struct's size in a program that was compiled before the prepared operands existed.
constexpr std::size_t kArgsSizeWithoutPrepared = offsetof(tmmGemmArgs_t, prepared_a);
// … before residuals and parameters did.
constexpr std::size_t kArgsSizeWithoutResidual = offsetof(tmmGemmArgs_t, residual);
// … and before arrays of pointers did.
constexpr std::size_t kArgsSizeWithoutArrays = offsetof(tmmGemmArgs_t, a_array);

// A pointer that the problem has a use for; one that it has none for must be null, since the caller expects something of it.
const void* check_added(bool has, const void* pointer, ElementType type, const char* name, tmmStatus_t null_status) {
    if (has) check_pointer(pointer, size_of(type), name, null_status);
    if (!has && pointer) refuse(TMM_STATUS_UNSUPPORTED_EPILOGUE, "{0} is not null, but the problem has no {0}", name);
    return pointer;
}

void take_epilogue_values(const tmmGemmArgs_t& args, const GemmProblem& p, GemmCall& call) {
    const bool has_fields = args.struct_size > kArgsSizeWithoutResidual;
    call.bias = check_added(p.bias != BiasAxis::none, args.bias, p.type_bias, "bias", TMM_STATUS_NULL_BIAS);
    call.residual = check_added(p.residual, has_fields ? args.residual : nullptr, p.type_c, "residual", TMM_STATUS_NULL_RESIDUAL);
    if (has_fields) std::copy(std::begin(args.parameters), std::end(args.parameters), call.parameters);
}

}  // namespace

CheckedProblem check_problem(const tmmGemmProblem_t* given) {
    if (!given) refuse(TMM_STATUS_NULL_POINTER, "problem is null");
    const tmmGemmProblem_t& p = *given;
    if (p.struct_size != sizeof(tmmGemmProblem_t) && p.struct_size != kSizeWithoutMaxWorkspace && p.struct_size != kSizeWithoutEpilogue &&
        p.struct_size != kSizeWithoutResult)
        refuse(TMM_STATUS_INVALID_STRUCT_SIZE, "problem->struct_size is {}, but sizeof(tmmGemmProblem_t) is {}; tmmGemmProblemInit sets it",
               p.struct_size, sizeof(tmmGemmProblem_t));
    if (p.layout != TMM_ROW_MAJOR && p.layout != TMM_COL_MAJOR)
        refuse(TMM_STATUS_INVALID_LAYOUT, "layout is {}, neither TMM_ROW_MAJOR (101) nor TMM_COL_MAJOR (102)", static_cast<int>(p.layout));
    const bool row_major = p.layout == TMM_ROW_MAJOR;
    const Operation op_a = check_operation(p.op_a, "op_a");
    const Operation op_b = check_operation(p.op_b, "op_b");
    const ElementType type_a = check_type(p.type_a, "type_a");
    const ElementType type_b = check_type(p.type_b, "type_b");
    const ElementType type_c = check_type(p.type_c, "type_c");
    const ComputeMode compute = check_compute(p.compute);
    GemmProblem epilogue;
    take_epilogue(p, epilogue);
    const Expression expression = check_expression(p);
    check_size(p.m, "m", TMM_STATUS_INVALID_M);
    check_size(p.n, "n", TMM_STATUS_INVALID_N);
    check_size(p.k, "k", TMM_STATUS_INVALID_K);
    check_size(p.batch, "batch", TMM_STATUS_INVALID_BATCH);
    check_gate(p, epilogue);
    const std::int64_t rows_of_a = p.m * products_of_row(epilogue.activation);
    const std::int64_t columns_of_b = p.n * products_of_column(epilogue.activation);
    check_leading_dimension(p.lda, row_major == (op_a == Operation::none) ? p.k : rows_of_a, row_major, "lda", TMM_STATUS_INVALID_LDA);
    check_leading_dimension(p.ldb, row_major == (op_b == Operation::none) ? columns_of_b : p.k, row_major, "ldb", TMM_STATUS_INVALID_LDB);
    check_leading_dimension(p.ldc, row_major ? p.n : p.m, row_major, "ldc", TMM_STATUS_INVALID_LDC);
    if (epilogue.residual) check_leading_dimension(p.ldr, row_major ? p.n : p.m, row_major, "ldr", TMM_STATUS_INVALID_LDR);
    const bool has_walk = p.struct_size > kSizeWithoutResult;
    const Result result = has_walk ? check_result(p.result) : Result::full;
    const bool pointers = has_walk && p.pointer_array != 0;
    const bool batched = p.batch > 1;
    const bool strided = batched && !pointers;
    if (batched && epilogue.residual) check_size(p.stride_r, "stride_r", TMM_STATUS_INVALID_STRIDE);
    if (strided) {
        check_size(p.stride_a, "stride_a", TMM_STATUS_INVALID_STRIDE);
        check_size(p.stride_b, "stride_b", TMM_STATUS_INVALID_STRIDE);
        check_size(p.stride_c, "stride_c", TMM_STATUS_INVALID_STRIDE);
    }
    if (p.alignment <= 0 || (p.alignment & (p.alignment - 1)) != 0)
        refuse(TMM_STATUS_INVALID_ALIGNMENT, "alignment is {}, no power of two", p.alignment);

    GemmProblem problem{.m = rows_of_a,
                        .n = columns_of_b,
                        .k = p.k,
                        .batch = p.batch,
                        .type_a = type_a,
                        .type_b = type_b,
                        .type_c = type_c,
                        .compute = compute,
                        .op_a = op_a,
                        .op_b = op_b,
                        .lda = p.lda,
                        .ldb = p.ldb,
                        .ldc = p.ldc,
                        .stride_a = strided ? p.stride_a : 0,
                        .stride_b = strided ? p.stride_b : 0,
                        .stride_c = strided ? p.stride_c : 0,
                        .reads_c = p.reads_c != 0,
                        .bias = epilogue.bias,
                        .activation = epilogue.activation,
                        .residual = epilogue.residual,
                        .epilogue = epilogue.epilogue,
                        .type_bias = epilogue.type_bias,
                        .ldr = epilogue.residual ? p.ldr : 0,
                        .stride_r = epilogue.residual && batched ? p.stride_r : 0,
                        .result = result,
                        .pointers = pointers,
                        .invariant = has_walk && p.invariant != 0};
    if (result != Result::full && p.m != p.n)
        refuse(TMM_STATUS_NOT_SQUARE, "result is {}, but C has {} rows and {} columns", name_of(result), p.m, p.n);
    if (const char* const violation = walk_violation(problem)) refuse(TMM_STATUS_UNSUPPORTED_EPILOGUE, "{}", violation);
    if (result == Result::symmetric && names_place(expression.text))
        refuse(TMM_STATUS_UNSUPPORTED_EPILOGUE, "an expression of row or column makes a symmetric result another one");
    if (!row_major) problem = as_row_major(problem);
    check_support(problem, !row_major);
    check_extent(layout_of_a(problem), row_major ? "A" : "B");
    check_extent(layout_of_b(problem), row_major ? "B" : "A");
    check_extent(layout_of_c(problem), "C");
    check_extent(layout_of_residual(problem), "the residual");
    if (elements_overlap(layout_of_c(problem)))
        refuse(TMM_STATUS_INVALID_STRIDE, "stride_c is {} and ldc {}, with which the {} matrices C of {} x {} elements overlap", p.stride_c,
               p.ldc, p.batch, p.m, p.n);
    return {.request = {.problem = with_alignment(problem, p.alignment), .most_workspace = most_workspace(p), .expression = expression},
            .swapped = !row_major};
}

void check_host_problem(const CheckedProblem& checked) {
    const GemmProblem& p = checked.request.problem;
    if (p.batch > 1) refuse(TMM_STATUS_INVALID_BATCH, "batch is {}; one product is multiplied in host memory", p.batch);
    if (p.pointers) refuse(TMM_STATUS_INVALID_BATCH, "pointer_array is set; matrices in host memory are given by their own addresses");
    if (p.bias != BiasAxis::none || p.residual)
        refuse(TMM_STATUS_UNSUPPORTED_EPILOGUE, "products in host memory have neither bias nor residual");
}

CheckedArgs check_args(const CheckedProblem& checked, const tmmGemmArgs_t* given) {
    if (!given) refuse(TMM_STATUS_NULL_POINTER, "args is null");
    const tmmGemmArgs_t& args = *given;
    const GemmProblem& p = checked.request.problem;
    if (args.struct_size != sizeof(tmmGemmArgs_t) && args.struct_size != kArgsSizeWithoutPrepared &&
        args.struct_size != kArgsSizeWithoutResidual && args.struct_size != kArgsSizeWithoutArrays)
        refuse(TMM_STATUS_INVALID_STRUCT_SIZE, "args->struct_size is {}, but sizeof(tmmGemmArgs_t) is {}", args.struct_size,
               sizeof(tmmGemmArgs_t));
    if (is_empty(p)) return {};
    if (!args.alpha) refuse(TMM_STATUS_NULL_ALPHA, "alpha is null");
    if (!args.beta && p.reads_c) refuse(TMM_STATUS_NULL_BETA, "beta is null");
    GemmCall call{.a = args.a,
                  .b = args.b,
                  .c = args.c,
                  .workspace = args.workspace,
                  .alpha = scalar(args.alpha, arithmetic_of(p).scalar),
                  .beta = args.beta ? scalar(args.beta, arithmetic_of(p).scalar) : 0.0};
    if (args.struct_size > kArgsSizeWithoutPrepared) {
        call.prepared_a = args.prepared_a;
        call.prepared_b = args.prepared_b;
    }
    if (!p.reads_c && call.beta != 0)
        refuse(TMM_STATUS_BETA_NOT_DECLARED, "beta is {}, but the problem was declared with reads_c = 0", call.beta);
    if (p.pointers) {
        const bool has_arrays = args.struct_size > kArgsSizeWithoutArrays;
        call.a = has_arrays ? args.a_array : nullptr;
        call.b = has_arrays ? args.b_array : nullptr;
        call.c = has_arrays ? const_cast<void**>(args.c_array) : nullptr;
    }
    // An array's elements are addresses.
    const auto check_matrix = [&](const void* matrix, ElementType type, const char* name, const char* array, tmmStatus_t null_status) {
        check_pointer(matrix, p.pointers ? static_cast<int>(sizeof(void*)) : size_of(type), p.pointers ? array : name, null_status);
    };
    if (call.alpha != 0 && p.k > 0) {
        check_matrix(call.a, checked.swapped ? p.type_b : p.type_a, "a", "a_array", TMM_STATUS_NULL_A);
        check_matrix(call.b, checked.swapped ? p.type_a : p.type_b, "b", "b_array", TMM_STATUS_NULL_B);
    } else {
        // The pointers are not read, so what they hold must not decide about kernels either.
        call.a = nullptr;
        call.b = nullptr;
    }
    check_matrix(call.c, p.type_c, "c", "c_array", TMM_STATUS_NULL_C);
    take_epilogue_values(args, p, call);
    check_block(args.workspace, "workspace", TMM_STATUS_MISALIGNED_WORKSPACE);
    check_block(call.prepared_a, "prepared_a", TMM_STATUS_MISALIGNED_PREPARED);
    check_block(call.prepared_b, "prepared_b", TMM_STATUS_MISALIGNED_PREPARED);
    if (!call.a) call.prepared_a = call.prepared_b = nullptr;
    if (checked.swapped) {
        std::swap(call.a, call.b);
        std::swap(call.prepared_a, call.prepared_b);
    }
    return {.call = call, .workspace_size = args.workspace_size};
}

void check_overlap(const CheckedProblem& checked, const CheckedArgs& args) {
    const GemmProblem& p = checked.request.problem;
    const GemmCall& call = args.call;
    if (is_empty(p) || p.pointers) return;
    const MatrixLayout c = layout_of_c(p);
    const auto check = [&](const void* matrix, const MatrixLayout& layout, const char* name) {
        if (matrix && matrices_meet(call.c, c, matrix, layout))
            refuse(TMM_STATUS_OVERLAP, "c shares memory with {}, which it would overwrite while that is in use", name);
    };
    check(call.a, layout_of_a(p), checked.swapped ? "b" : "a");
    check(call.b, layout_of_b(p), checked.swapped ? "a" : "b");
    const i64 elements = elements_of_bias(p);
    check(call.bias, {.rows = 1, .columns = elements, .ld = elements, .type = p.type_bias}, "bias");
    check(call.residual, layout_of_residual(p), "the residual");
}

void check_workspace_size(std::size_t size, std::size_t needed) {
    if (size < needed)
        refuse(TMM_STATUS_WORKSPACE_TOO_SMALL, "workspace_size is {}, but {} bytes are needed; tmmPlanWorkspaceSize tells", size, needed);
}

GemmOperand check_operand(const CheckedProblem& checked, tmmOperand_t operand) {
    switch (operand) {
        case TMM_OPERAND_A: return checked.swapped ? GemmOperand::b : GemmOperand::a;
        case TMM_OPERAND_B: return checked.swapped ? GemmOperand::a : GemmOperand::b;
    }
    refuse(TMM_STATUS_INVALID_OPERAND, "operand is {}, neither TMM_OPERAND_A (0) nor TMM_OPERAND_B (1)", static_cast<int>(operand));
}

Preparation check_preparation(const CheckedProblem& checked, tmmOperand_t operand, const void* matrix, void* prepared) {
    const GemmProblem& p = checked.request.problem;
    const Preparation preparation{.operand = check_operand(checked, operand), .matrix = matrix, .prepared = prepared};
    if (!is_empty(p) && p.k > 0)
        check_pointer(matrix, size_of(preparation.operand == GemmOperand::a ? p.type_a : p.type_b), "matrix",
                      operand == TMM_OPERAND_A ? TMM_STATUS_NULL_A : TMM_STATUS_NULL_B);
    check_block(prepared, "prepared", TMM_STATUS_MISALIGNED_PREPARED);
    return preparation;
}

void check_prepared_size(const void* prepared, std::size_t size, std::size_t needed) {
    if (!prepared) refuse(TMM_STATUS_NULL_POINTER, "prepared is null");
    if (size < needed)
        refuse(TMM_STATUS_PREPARED_TOO_SMALL, "prepared_size is {}, but {} bytes are needed; tmmPlanPreparedSize tells", size, needed);
}

int alignment_of(const GemmProblem& problem, const GemmCall& call) {
    std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(call.residual) | 16U;
    // Where these are arrays the matrices' addresses are taken at the problem's word.
    if (!problem.pointers)
        bits |=
            reinterpret_cast<std::uintptr_t>(call.a) | reinterpret_cast<std::uintptr_t>(call.b) | reinterpret_cast<std::uintptr_t>(call.c);
    return static_cast<int>(bits & (~bits + 1));
}

}  // namespace tmm
