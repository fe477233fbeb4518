#include "generator/text/foreign_lists/foreign_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/text/printable.h"
#include "generator/text/spellings.h"
#include "generator/text/text.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

constexpr std::size_t kMostRemarks = 100;

std::string served_types() {
    return "tmm multiplies " + offered_names(kElementTypes);
}

ElementType element_type(std::string_view text, std::string_view which) {
    const auto value = value_of(kElementTypes, type_name(text, Spelling::blas));
    const bool is_sum = value && *value == static_cast<int>(ElementType::s32) && which == "C";
    if (value && (*value < kElementTypes.offered || is_sum)) return static_cast<ElementType>(*value);
    const std::string_view foreign = foreign_type(text);
    if (foreign.empty())
        throw ShapeFault{text.data(), fmt::format("the type of {} is {}, which tmm does not know", which, in_quotes(text)),
                         meant_value(kElementTypes, text)};
    throw ShapeFault{text.data(), fmt::format("{} is {} ({}), which tmm does not have", which, foreign, in_quotes(text)), served_types()};
}

Operation operation(std::string_view text, std::string_view which) {
    if (text.empty()) return Operation::none;
    std::string name = lowered(text);
    if (name.starts_with("op_")) name.erase(0, 3);
    if (name == "n") return Operation::none;
    // The elements are real numbers, so that C (conjugate transpose) is T.
    if (name == "t" || name == "c") return Operation::transpose;
    throw ShapeFault{text.data(), fmt::format("the operation on {} is {}", which, in_quotes(text)), "one of N, T, C"};
}

[[noreturn]] void refuse_compute(std::string_view text, ElementType type) {
    throw ShapeFault{text.data(), fmt::format("tmm does not multiply {} with sums in {}", name_of(type), in_quotes(text)),
                     "see docs/lists.md for what is read as which compute"};
}

// Returns the least accurate of tmm's modes that is at least as accurate as the named one.
ComputeMode compute_mode(std::string_view text, ElementType type) {
    if (text.empty()) return default_compute(type);
    std::string name = lowered(text);
    for (const std::string_view prefix : {"cublas_", "hipblas_", "rocblas_", "compute_", "c_"})
        if (name.starts_with(prefix)) name.erase(0, prefix.size());
    const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    const bool is_float = type == ElementType::f32;
    if (has("pedantic")) {
        // Tensor cores do not multiply 16-bit operands by FP32 arithmetic in all phases.
        if (!is_float || !name.starts_with("32f")) refuse_compute(text, type);
        return ComputeMode::f32_strict;
    }
    if (has("emulated") && name.starts_with("32f")) return ComputeMode::f32;
    for (const std::string_view reduced : {"tf32", "xf32", "fast_16f", "fast_16bf", "fast_f16", "fast_bf16", "f32_f16", "f32_bf16"})
        if (has(reduced)) return is_float ? ComputeMode::tf32 : default_compute(type);
    if (name == "32f") name = "f32";
    if (name == "16f") name = "f16";
    if (name == "64f") name = "f64";
    if (name == "32i") name = "s32";
    const std::string sum = type_name(name, Spelling::blas);
    if (sum == name_of(arithmetic_of(type, type, type, default_compute(type)).accumulator) || (sum == "f16" && type == ElementType::f16) ||
        (sum == "bf16" && type == ElementType::bf16))
        return default_compute(type);
    refuse_compute(text, type);
}

struct Types {
    ElementType a, b, c;
};

Types types_of(const ForeignProduct& product) {
    Types types{};
    types.a = product.type_a.empty() ? ElementType::f32 : element_type(product.type_a, "A");
    types.b = product.type_b.empty() ? types.a : element_type(product.type_b, "B");
    const ElementType sums = arithmetic_of(types.a, types.a, types.a, default_compute(types.a)).accumulator;
    const bool is_bytes = types.a == ElementType::s8;
    types.c = !product.type_c.empty() ? element_type(product.type_c, "C") : is_bytes ? sums : types.a;
    if (types.b != types.a)
        throw ShapeFault{product.type_b.data(), fmt::format("A is {} and B is {}", name_of(types.a), name_of(types.b)),
                         "tmm multiplies operands of one type"};
    if (types.c != sums && (types.c != types.a || is_bytes))
        throw ShapeFault{product.type_c.data(), fmt::format("operands are {} and C is {}", name_of(types.a), name_of(types.c)),
                         is_bytes ? "tmm stores C in s32" : fmt::format("tmm stores C in the operands' type or in {}", name_of(sums))};
    return types;
}

constexpr const char* kOperationPairs[] = {"nn", "nt", "tn", "tt"};

// Makes the line of a shapes file that means the same.
ShapeLine line_of_shapes(const ForeignProduct& product) {
    ShapeLine line;
    const Types types = types_of(product);
    if (product.unserved) throw ShapeFault(*product.unserved);
    const auto set = [&](const char* key, std::string_view value) {
        if (!value.empty()) set_key(line, key, value);
    };
    for (const auto& [size, text, name] : {std::tuple{&line.m, product.m, "M"}, {&line.n, product.n, "N"}, {&line.k, product.k, "K"}}) {
        if (text.empty())
            throw ShapeFault{product.record.data() + product.record.size(), fmt::format("{} is missing", name), "is the line complete?"};
        *size = parse_sizes(text, name);
        if (size->varies || size->count() != 1) throw ShapeFault{text.data(), fmt::format("{} is a range", name), "write one number"};
    }
    set("layout", product.column_major ? "col" : "row");
    // Only what differs from the defaults is set, so that --set can change the rest.
    if (!product.type_a.empty()) set("dtype", name_of(types.a));
    if (types.c != types.a && !(types.a == ElementType::s8)) set("ctype", name_of(types.c));
    if (const ComputeMode mode = compute_mode(product.compute, types.a); mode != default_compute(types.a)) set("compute", name_of(mode));
    set("ops", kOperationPairs[2 * static_cast<int>(operation(product.op_a, "A")) + static_cast<int>(operation(product.op_b, "B"))]);
    set("batch", product.batch);
    set("lda", product.lda);
    set("ldb", product.ldb);
    set("ldc", product.ldc);
    set("stride_a", product.stride_a);
    set("stride_b", product.stride_b);
    set("stride_c", product.stride_c);
    set("alpha", product.alpha);
    set("beta", product.beta);
    set("epilogue", product.epilogue);
    if (!product.type_bias.empty()) set("bias_type", name_of(element_type(product.type_bias, "the bias")));
    return line;
}

bool is_within(const char* place, std::string_view text) {
    return !std::less<>()(place, text.data()) && !std::less<>()(text.data() + text.size(), place);
}

}  // namespace

void refuse_foreign(std::string_view place, const std::string& what) {
    throw ShapeFault{place.data(), what + ", which tmm does not have", {}};
}

void ForeignProduct::refuse(std::string_view place, const std::string& what) {
    if (!unserved) unserved = ShapeFault{place.data(), what + ", which tmm does not have", {}};
}

int ForeignList::line_of(const char* place) {
    if (std::less<>()(place, seen_)) {
        seen_ = text_.data();
        line_ = 1;
    }
    line_ += static_cast<int>(std::count(seen_, place, '\n'));
    seen_ = place;
    return line_;
}

void ForeignList::leave_out(const ShapeFault& fault) {
    if (++left_out_ > kMostRemarks) return;
    const char* const place = is_within(fault.place, text_) ? fault.place : text_.data();
    const std::size_t line_start = text_.substr(0, static_cast<std::size_t>(place - text_.data())).rfind('\n');
    const std::size_t column = static_cast<std::size_t>(place - text_.data()) - (line_start + 1) + 1;
    remarks_.push_back({line_of(place), column, fault.what, fault.remedy});
}

void ForeignList::add_product(const ForeignProduct& product) {
    try {
        ShapeLine line = line_of_shapes(product);
        apply_overrides(line, overrides_);
        const GemmProblem problem = make_problem(line, line.m.first, line.n.first, line.k.first);
        shapes_.add({problem, line.alpha, line.beta, line_of(product.record.data())});
    } catch (ShapeFault& fault) {
        // The place of a default, or of a value that several records share, lies outside of the record.
        if (!is_within(fault.place, product.record)) fault.place = product.record.data();
        throw;
    }
}

}  // namespace tmm
