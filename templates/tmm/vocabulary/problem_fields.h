// The list of GemmProblem's fields. The tuner's protocol, the database and its exports, shapes files and the keys of look-ups are made from
// it, so that a field has one name and one range everywhere. No kernel includes it.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm {

inline constexpr const char* kElementTypeNames[] = {"f32", "f16", "bf16", "f64", "s8", "s32"};
inline constexpr const char* kComputeModeNames[] = {"f32", "f32_strict", "tf32", "f64", "s32"};
inline constexpr const char* kOperationNames[] = {"n", "t"};
inline constexpr const char* kEpilogueNames[] = {"none", "bias", "activation", "custom"};
inline constexpr const char* kActivationNames[] = {"none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "swiglu", "swiglu_rows"};
inline constexpr const char* kBiasAxisNames[] = {"none", "columns", "rows"};
inline constexpr const char* kResultNames[] = {"full", "symmetric", "lower", "upper"};
inline constexpr const char* kNoYesNames[] = {"no", "yes"};
// The words of an epilogue's text, "bias+gelu+residual": what is not there has none.
inline constexpr const char* kBiasWords[] = {"", "bias", "bias_rows"};
inline constexpr const char* kActivationWords[] = {"", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "swiglu", "swiglu_rows"};
inline constexpr const char* kResidualWords[] = {"", "residual"};
// An expression stands in a program, and in no file.
inline constexpr const char* kClassWords[] = {"", "", "", "custom"};

// The names of the values 0, 1, … of an enumeration. Kernels serve the first `offered` of them.
struct ValueNames {
    const char* const* names = nullptr;
    int count = 0;
    int offered = 0;
};
template <int count>
constexpr ValueNames value_names(const char* const (&names)[count], int offered = count) {
    return {names, count, offered};
}

// INT32 is offered as what INT8 is multiplied into, and by that name alone.
inline constexpr ValueNames kElementTypes = value_names(kElementTypeNames, 5);
inline constexpr ValueNames kComputeModes = value_names(kComputeModeNames);
inline constexpr ValueNames kOperations = value_names(kOperationNames);
inline constexpr ValueNames kBiasAxes = value_names(kBiasAxisNames);
inline constexpr ValueNames kActivations = value_names(kActivationNames);
inline constexpr ValueNames kResults = value_names(kResultNames);
inline constexpr ValueNames kNoYes = value_names(kNoYesNames);
inline constexpr ValueNames kEpilogues = value_names(kEpilogueNames, 3);

// Where a field's value may lie, whichever way it comes in.
struct FieldRange {
    i64 least;
    i64 most;
    // The least that a person may write.
    i64 least_written;
    bool power_of_two = false;
};

struct ProblemField {
    // The C++ member, the database's column, and the member of JSON objects.
    const char* name;
    i64 (*get)(const GemmProblem&);
    void (*set)(GemmProblem&, i64);
    FieldRange range;
    ValueNames values;
    // The key of a shapes file; null where the value leads the line, or follows from other fields. Fields of one key are one text: a letter
    // each or, where it is an epilogue, a word each, joined by '+', of those that are not 0.
    const char* key;
    // A text's words stand in the order of their places.
    int place;
    // The value where a text has none: it may depend on fields further up. -1 where it would be no number of 64 bits.
    i64 (*unwritten)(const GemmProblem&);
    // The problem that is served and that of a winner may differ in it, where the winner is one of a near problem.
    bool near_may_differ;
    // Measurements serve each of its values, so that only decisions have it.
    bool is_promise = false;
    // The words of its values in the text of an epilogue, of which it is a part; null where it is none.
    const char* const* epilogue_words = nullptr;

    // It says what follows the sums.
    bool follows_sums = false;

    constexpr bool is_named() const { return values.count > 0; }
};

// What operands of the type are computed in unless something else is said.
constexpr ComputeMode default_compute(ElementType type) {
    if (type == ElementType::s8 || type == ElementType::s32) return ComputeMode::s32;
    return type == ElementType::f64 ? ComputeMode::f64 : ComputeMode::f32;
}
// The type of C unless something else is said: that of A, but bytes are too narrow for their sums.
constexpr ElementType default_type_c(ElementType type_a) {
    return type_a == ElementType::s8 ? ElementType::s32 : type_a;
}

namespace problem_field {

template <auto member>
struct Access;
template <typename Value, Value GemmProblem::*member>
struct Access<member> {
    static constexpr i64 get(const GemmProblem& problem) { return static_cast<i64>(problem.*member); }
    static constexpr void set(GemmProblem& problem, i64 value) { problem.*member = static_cast<Value>(value); }
    // What it is in GemmProblem{}.
    static constexpr i64 initial(const GemmProblem&) { return get(GemmProblem{}); }
};

using Unwritten = i64 (*)(const GemmProblem&);

inline constexpr i64 kMost = 0x7fffffffffffffff;
inline constexpr FieldRange kSize{0, kMost, 1};
inline constexpr FieldRange kStride{0, kMost, 0};
inline constexpr FieldRange kAlignment{1, 1 << 20, 1, true};
inline constexpr FieldRange kFlag{0, 1, 0};

template <auto member>
constexpr ProblemField number(const char* name, const char* key, int place, FieldRange range,
                              Unwritten unwritten = Access<member>::initial) {
    return {name, Access<member>::get, Access<member>::set, range, {}, key, place, unwritten, true};
}
template <auto member>
constexpr ProblemField named(const char* name, const char* key, int place, ValueNames values,
                             Unwritten unwritten = Access<member>::initial) {
    return {name, Access<member>::get, Access<member>::set, {0, values.count - 1, 0}, values, key, place, unwritten, false};
}
// The winner of a problem with another epilogue serves as one of a near problem does.
constexpr ProblemField of_epilogue(ProblemField field) {
    field.near_may_differ = field.follows_sums = true;
    return field;
}
template <auto member>
constexpr ProblemField epilogue(const char* name, const char* const* words, ValueNames values,
                                Unwritten unwritten = Access<member>::initial) {
    ProblemField field = named<member>(name, "epilogue", 15, values, unwritten);
    field.epilogue_words = words;
    return of_epilogue(field);
}
// The field's value is not the member's own.
constexpr ProblemField counted(ProblemField field, i64 (*get)(const GemmProblem&), void (*set)(GemmProblem&, i64)) {
    field.get = get;
    field.set = set;
    return field;
}
// A winner serves whatever the value is.
constexpr ProblemField shared_by_near(ProblemField field) {
    field.near_may_differ = true;
    return field;
}
constexpr ProblemField promise(ProblemField field) {
    field.near_may_differ = field.is_promise = true;
    return field;
}

constexpr i64 type_of_a(const GemmProblem& p) {
    return static_cast<i64>(p.type_a);
}
constexpr i64 type_of_c(const GemmProblem& p) {
    return static_cast<i64>(default_type_c(p.type_a));
}
constexpr i64 mode_of_a(const GemmProblem& p) {
    return static_cast<i64>(default_compute(p.type_a));
}
// A size that a person says is one of C. The problem's m and n follow, whichever of a size and the activation is set first; what is no
// number of 64 bits then is too large for any matrix still.
constexpr void set_rows_of_c(GemmProblem& p, i64 rows) {
    if (__builtin_mul_overflow(rows, products_of_row(p.activation), &p.m)) p.m = kMost;
}
constexpr void set_columns_of_c(GemmProblem& p, i64 columns) {
    if (__builtin_mul_overflow(columns, products_of_column(p.activation), &p.n)) p.n = kMost;
}
constexpr void set_activation(GemmProblem& p, i64 activation) {
    const i64 rows = rows_of_c(p);
    const i64 columns = columns_of_c(p);
    p.activation = static_cast<Activation>(activation);
    set_rows_of_c(p, rows);
    set_columns_of_c(p, columns);
}
// Members of a batch lie one behind the other.
constexpr i64 stride(const GemmProblem& p, i64 rows, i64 ld) {
    i64 product = 0;
    if (p.batch == 1 || p.pointers) return 0;
    return __builtin_mul_overflow(rows, ld, &product) ? -1 : product;
}
constexpr i64 stride_of_a(const GemmProblem& p) {
    return stride(p, stored_rows_a(p), p.lda);
}
constexpr i64 stride_of_b(const GemmProblem& p) {
    return stride(p, stored_rows_b(p), p.ldb);
}
constexpr i64 stride_of_c(const GemmProblem& p) {
    return stride(p, rows_of_c(p), p.ldc);
}
constexpr i64 class_of_epilogue(const GemmProblem& p) {
    return static_cast<i64>(epilogue_class(p.bias, p.activation, p.residual));
}
constexpr i64 type_of_bias(const GemmProblem& p) {
    return static_cast<i64>(p.bias != BiasAxis::none ? p.type_c : ElementType::f32);
}
constexpr i64 columns_of_residual(const GemmProblem& p) {
    return p.residual ? columns_of_c(p) : 0;
}
constexpr i64 stride_of_residual(const GemmProblem& p) {
    return p.residual ? stride(p, rows_of_c(p), p.ldr) : 0;
}

}  // namespace problem_field

// The columns of the table `problem` stand in this order.
inline constexpr ProblemField kProblemFields[] = {
    problem_field::counted(problem_field::number<&GemmProblem::m>("m", nullptr, 0, problem_field::kSize), rows_of_c,
                           problem_field::set_rows_of_c),
    problem_field::counted(problem_field::number<&GemmProblem::n>("n", nullptr, 0, problem_field::kSize), columns_of_c,
                           problem_field::set_columns_of_c),
    problem_field::number<&GemmProblem::k>("k", nullptr, 0, problem_field::kSize),
    problem_field::number<&GemmProblem::batch>("batch", "batch", 6, problem_field::kSize),
    problem_field::named<&GemmProblem::type_a>("type_a", "dtype", 1, kElementTypes),
    problem_field::named<&GemmProblem::type_b>("type_b", "btype", 2, kElementTypes, problem_field::type_of_a),
    problem_field::named<&GemmProblem::type_c>("type_c", "ctype", 3, kElementTypes, problem_field::type_of_c),
    problem_field::promise(problem_field::named<&GemmProblem::compute>("compute", "compute", 4, kComputeModes, problem_field::mode_of_a)),
    problem_field::named<&GemmProblem::op_a>("op_a", "ops", 5, kOperations),
    problem_field::named<&GemmProblem::op_b>("op_b", "ops", 5, kOperations),
    problem_field::number<&GemmProblem::lda>("lda", "lda", 7, problem_field::kSize, stored_columns_a),
    problem_field::number<&GemmProblem::ldb>("ldb", "ldb", 8, problem_field::kSize, stored_columns_b),
    problem_field::number<&GemmProblem::ldc>("ldc", "ldc", 9, problem_field::kSize, columns_of_c),
    problem_field::number<&GemmProblem::stride_a>("stride_a", "stride_a", 10, problem_field::kStride, problem_field::stride_of_a),
    problem_field::number<&GemmProblem::stride_b>("stride_b", "stride_b", 11, problem_field::kStride, problem_field::stride_of_b),
    problem_field::number<&GemmProblem::stride_c>("stride_c", "stride_c", 12, problem_field::kStride, problem_field::stride_of_c),
    problem_field::number<&GemmProblem::alignment>("alignment", "align", 13, problem_field::kAlignment),
    problem_field::number<&GemmProblem::reads_c>("reads_c", "beta", 14, problem_field::kFlag),
    problem_field::epilogue<&GemmProblem::bias>("bias", kBiasWords, kBiasAxes),
    problem_field::counted(problem_field::epilogue<&GemmProblem::activation>("activation", kActivationWords, kActivations),
                           problem_field::Access<&GemmProblem::activation>::get, problem_field::set_activation),
    problem_field::epilogue<&GemmProblem::residual>("residual", kResidualWords, kNoYes),
    problem_field::epilogue<&GemmProblem::epilogue>("epilogue", kClassWords, kEpilogues, problem_field::class_of_epilogue),
    problem_field::of_epilogue(
        problem_field::named<&GemmProblem::type_bias>("type_bias", "bias_type", 16, kElementTypes, problem_field::type_of_bias)),
    problem_field::of_epilogue(
        problem_field::number<&GemmProblem::ldr>("ldr", "ldr", 17, problem_field::kStride, problem_field::columns_of_residual)),
    problem_field::of_epilogue(problem_field::number<&GemmProblem::stride_r>("stride_r", "stride_r", 18, problem_field::kStride,
                                                                             problem_field::stride_of_residual)),
    problem_field::shared_by_near(problem_field::named<&GemmProblem::result>("result", "result", 19, kResults)),
    problem_field::number<&GemmProblem::pointers>("pointers", "pointers", 20, problem_field::kFlag),
    problem_field::number<&GemmProblem::invariant>("invariant", "invariant", 21, problem_field::kFlag),
};
inline constexpr int kProblemFieldCount = sizeof(kProblemFields) / sizeof(kProblemFields[0]);

namespace problem_field {

struct AnyValue {
    template <typename Value>
    constexpr operator Value() const;
};
template <typename Aggregate, typename... Values>
constexpr int member_count() {
    if constexpr (requires { Aggregate{Values{}..., AnyValue{}}; })
        return member_count<Aggregate, Values..., AnyValue>();
    else
        return sizeof...(Values);
}
static_assert(member_count<GemmProblem>() == kProblemFieldCount, "every field of GemmProblem needs its row in kProblemFields");

}  // namespace problem_field

}  // namespace tmm
