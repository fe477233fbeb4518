#include "generator/text/shape_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "base/text/nearest_name.h"
#include "base/text/printable.h"
#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/spellings.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

constexpr i64 kLargest = std::numeric_limits<i64>::max();

i64 checked_product(i64 a, i64 b, const char* place, const char* what) {
    i64 product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        throw ShapeFault{place, fmt::format("{} does not fit in 64 bits", what), "use smaller sizes or leading dimensions"};
    return product;
}

i64 parse_count(std::string_view text, std::string_view what, i64 least) {
    i64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty()) throw ShapeFault{text.data(), fmt::format("{} is missing its number", what), "write a whole number"};
    if (end != text.data() + text.size() || error == std::errc::invalid_argument)
        throw ShapeFault{text.data(), fmt::format("{} = {} is not a whole number", what, in_quotes(text)),
                         text.find_first_of(",;") == std::string_view::npos
                             ? "write digits only, like 1024"
                             : "write digits only, like 1024, and nothing but blanks between sizes"};
    if (error == std::errc::result_out_of_range)
        throw ShapeFault{text.data(), fmt::format("{} = {} does not fit in 64 bits", what, in_quotes(text)),
                         fmt::format("use at most {}", kLargest)};
    if (value < least)
        throw ShapeFault{text.data(), fmt::format("{} = {} is {}", what, value, value < 0 ? "negative" : "too small"),
                         fmt::format("use at least {}", least)};
    return value;
}

double parse_real(std::string_view text, std::string_view what) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        throw ShapeFault{text.data(), fmt::format("{} = {} is not a finite number", what, in_quotes(text)), "write it like 1, 0.5 or -2e3"};
    return value;
}

constexpr const char* kRangeHelp = "write a range as first:last:step, or as first:last:auto";

// Fields of one key are one word, a letter each: "ops=nt".
std::span<const ProblemField> fields_of_key(std::size_t field) {
    std::size_t end = field + 1;
    while (end < kProblemFieldCount && kProblemFields[end].place == kProblemFields[field].place) ++end;
    return {kProblemFields + field, end - field};
}

std::vector<std::string> words_of(std::span<const ProblemField> fields) {
    std::vector<std::string> words = {""};
    for (const ProblemField& field : fields) {
        std::vector<std::string> longer;
        for (const std::string& word : words)
            for (int value = 0; value < field.values.offered; ++value) longer.push_back(word + field.values.names[value]);
        words = std::move(longer);
    }
    return words;
}

i64 parse_number(const ProblemField& field, std::string_view text) {
    const i64 value = parse_count(text, field.key, field.range.least_written);
    const bool fits = value <= field.range.most && (!field.range.power_of_two || (value & (value - 1)) == 0);
    if (!fits)
        throw ShapeFault{text.data(),
                         fmt::format("{} = {} is not {} up to {}", field.key, value,
                                     field.range.power_of_two ? "a power of two" : "a number", field.range.most),
                         field.range.most == 1 ? "write 1 or 0" : "write the bytes that the pointers are multiples of, like 16"};
    return value;
}

// A value that no kernel serves yet is named all the same, so that it is refused with its reason.
int parse_name(const ProblemField& field, std::string_view text) {
    if (const auto value = value_of(field.values, text)) return *value;
    if (const auto value = value_of(field.values, type_name(text, Spelling::plain))) return *value;
    const std::string_view foreign = foreign_type(text);
    throw ShapeFault{text.data(),
                     fmt::format("{} = {} is {}", field.key, in_quotes(text),
                                 foreign.empty() ? "not one of its values" : fmt::format("{}, which tmm does not have", foreign)),
                     meant_value(field.values, text)};
}

void set_fields(ShapeLine& line, std::size_t first, std::string_view text) {
    const std::span<const ProblemField> fields = fields_of_key(first);
    if (fields[0].epilogue_words) {
        if (const auto fault = read_epilogue(lowered(text), line.named)) throw ShapeFault{text.data(), fault->what, fault->remedy};
        return;
    }
    if (!fields[0].is_named()) return fields[0].set(line.named, parse_number(fields[0], text));
    if (fields.size() == 1) return fields[0].set(line.named, parse_name(fields[0], text));
    const std::vector<std::string> words = words_of(fields);
    auto word = std::find(words.begin(), words.end(), lowered(text)) - words.begin();
    if (word == static_cast<std::ptrdiff_t>(words.size()))
        throw ShapeFault{text.data(), fmt::format("{} = {} is not one of its values", fields[0].key, in_quotes(text)),
                         fmt::format("one of {}", fmt::join(words, ", "))};
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
        field->set(line.named, word % field->values.offered);
        word /= field->values.offered;
    }
}

bool column_major(std::string_view text) {
    const auto columns = is_column_major(text);
    if (!columns) throw ShapeFault{text.data(), "layout = " + in_quotes(text) + " is not one of its values", "one of row, col"};
    return *columns;
}

const char* key_name(std::size_t key) {
    switch (key) {
        case ShapeLine::kLayout: return "layout";
        case ShapeLine::kAlpha: return "alpha";
        case ShapeLine::kBeta: return "beta";
        default: return kProblemFields[key].key;
    }
}

std::size_t key_index(std::string_view written) {
    const std::string name = lowered(written);
    // What beta says of reads_c is part of it.
    for (const std::size_t key : {ShapeLine::kLayout, ShapeLine::kAlpha, ShapeLine::kBeta})
        if (name == key_name(key)) return key;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < kProblemFieldCount; ++i) {
        if (!kProblemFields[i].key) continue;
        if (name == kProblemFields[i].key) return i;
        if (names.empty() || names.back() != kProblemFields[i].key) names.emplace_back(kProblemFields[i].key);
    }
    for (const std::size_t key : {ShapeLine::kLayout, ShapeLine::kAlpha}) names.emplace_back(key_name(key));
    const auto nearest = nearest_name(name, names);
    throw ShapeFault{written.data(), "there is no key " + in_quotes(written),
                     nearest ? fmt::format("did you mean {}?", *nearest) : fmt::format("the keys are {}", fmt::join(names, ", "))};
}

constexpr std::size_t position_of(std::string_view name) {
    std::size_t i = 0;
    while (name != kProblemFields[i].name) ++i;
    return i;
}

// Sets a key; the place is that of its name or its value.
void set_key(ShapeLine& line, std::size_t key, std::string_view text, const char* place) {
    line.places[key] = place;
    switch (key) {
        case ShapeLine::kLayout: line.column_major = column_major(text); break;
        case ShapeLine::kAlpha: line.alpha = parse_real(text, "alpha"); break;
        case ShapeLine::kBeta: line.beta = parse_real(text, "beta"); break;
        default: set_fields(line, key, text);
    }
}

// "1024x1024x1024" as three words.
void split_sizes(std::string_view word, std::vector<std::string_view>& sizes) {
    for (std::size_t begin = 0;;) {
        const auto end = word.find_first_of("xX", begin);
        sizes.push_back(word.substr(begin, end == std::string_view::npos ? end : end - begin));
        if (end == std::string_view::npos) return;
        begin = end + 1;
    }
}

// One of A, B, C and the residual, as it is stored.
struct StoredMatrix {
    // "a", "b", "c" or "r", and the keys of its leading dimension and stride.
    char name;
    std::size_t ld_key;
    std::size_t stride_key;
    i64 rows;
    i64 columns;
    ElementType type;
};

// Leading dimension and stride, with their defaults; refuses a row that does not fit, and extents past 64 bits.
void lay_out(const ShapeLine& line, const StoredMatrix& matrix, i64 batch, i64& ld, i64& stride) {
    const char name = matrix.name;
    const char* const where = line.names(matrix.ld_key) ? line.places[matrix.ld_key] : line.m.place;
    const char* const stride_where = line.names(matrix.stride_key) ? line.places[matrix.stride_key] : where;
    if (!line.names(matrix.ld_key)) ld = matrix.columns;
    if (ld < matrix.columns)
        throw ShapeFault{where,
                         fmt::format("ld{} = {} is shorter than a stored {} of {} elements", name, ld, line.column_major ? "column" : "row",
                                     matrix.columns),
                         fmt::format("use at least {}", matrix.columns)};
    const bool anywhere = line.named.pointers && name != 'r';
    if (anywhere && line.names(matrix.stride_key))
        throw ShapeFault{stride_where, fmt::format("stride_{} says nothing where pointers=1: each matrix has an address", name),
                         "leave it out"};
    if (batch == 1 || anywhere) {
        stride = 0;
    } else if (!line.names(matrix.stride_key)) {
        stride = checked_product(matrix.rows, ld, where, "the matrix");
    }
    const MatrixLayout layout{
        .rows = matrix.rows, .columns = matrix.columns, .ld = ld, .stride = stride, .batch = anywhere ? 1 : batch, .type = matrix.type};
    if (!extent_in_bytes(layout))
        throw ShapeFault{stride_where,
                         fmt::format("the size of {} in bytes does not fit in 64 bits",
                                     name == 'r' ? "the residual" : std::string(1, static_cast<char>(name - 'a' + 'A'))),
                         "use smaller sizes or leading dimensions"};
    if (name == 'c' && elements_overlap(layout))
        throw ShapeFault{stride_where, fmt::format("stride_c = {} makes the results of the batch overlap", stride),
                         fmt::format("use at least {}; or {}, where ldc is at least batch times that and the results lie side by side",
                                     (matrix.rows - 1) * ld + matrix.columns, matrix.columns)};
}

// What is said of a bias or a residual that is not there.
void refuse_unused(const ShapeLine& line, const GemmProblem& p) {
    for (const auto& [name, owner, exists] : {std::tuple{"type_bias", "bias", p.bias != BiasAxis::none},
                                              std::tuple{"ldr", "residual", p.residual}, std::tuple{"stride_r", "residual", p.residual}}) {
        const std::size_t key = position_of(name);
        if (!exists && line.names(key))
            throw ShapeFault{line.places[key], fmt::format("{} says nothing where the epilogue has no {}", key_name(key), owner),
                             fmt::format("leave it out, or add {} to the epilogue", owner)};
    }
}

void refuse_gate(const ShapeLine& line, const GemmProblem& p) {
    if (!is_gate(p.activation)) return;
    const char* const where = line.places[position_of("bias")];
    if (p.reads_c) throw ShapeFault{where, fmt::format("{} does not read C", name_of(p.activation)), "leave out beta"};
}

void refuse_walk(const ShapeLine& line, const GemmProblem& p) {
    const char* const where = line.places[position_of(p.pointers && is_gate(p.activation) ? "pointers" : "result")];
    if (const char* const violation = walk_violation(p)) throw ShapeFault{where, violation, "leave it out, or what it does not go with"};
}

// Products of whole numbers are scaled by whole numbers.
void refuse_fractions(const ShapeLine& line, const GemmProblem& p) {
    if (p.compute != ComputeMode::s32) return;
    for (const auto& [key, value] : {std::pair{ShapeLine::kAlpha, line.alpha}, std::pair{ShapeLine::kBeta, line.beta}}) {
        if (value == std::trunc(value) && std::fabs(value) <= std::numeric_limits<std::int32_t>::max()) continue;
        throw ShapeFault{line.places[key],
                         fmt::format("{} = {} is no number of 32 bits, as sums of s8 are scaled by", key_name(key), value),
                         "write a whole number"};
    }
}

}  // namespace

Sizes parse_sizes(std::string_view text, const char* what) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0;;) {
        const auto colon = text.find(':', begin);
        if (parts.size() == 3) throw ShapeFault{text.data(), fmt::format("{} = {} has too many colons", what, in_quotes(text)), kRangeHelp};
        parts.push_back(text.substr(begin, colon == std::string_view::npos ? colon : colon - begin));
        if (colon == std::string_view::npos) break;
        begin = colon + 1;
    }
    Sizes sizes{.place = text.data()};
    sizes.first = sizes.last = parse_count(parts[0], what, 1);
    if (parts.size() > 1) sizes.last = parse_count(parts[1], what, 1);
    sizes.varies = parts.size() > 2 && parts[2] == "auto";
    if (parts.size() > 2 && !sizes.varies) sizes.step = parse_count(parts[2], fmt::format("the step of {}", what), 1);
    if (sizes.last < sizes.first)
        throw ShapeFault{parts[1].data(), fmt::format("the range of {} ends at {}, before it begins at {}", what, sizes.last, sizes.first),
                         kRangeHelp};
    return sizes;
}

void set_key(ShapeLine& line, std::string_view key, std::string_view value) {
    set_key(line, key_index(key), value, value.data());
}

void apply_overrides(ShapeLine& line, const ShapeOverrides& overrides) {
    for (const auto& [name, value] : overrides) set_key(line, name, value);
}

ShapeLine parse_shape_line(const std::vector<std::string_view>& words, const ShapeOverrides& overrides) {
    ShapeLine line;
    std::vector<std::string_view> sizes;
    std::size_t next = 0;
    while (next < words.size() && sizes.size() < 3 && words[next].find('=') == std::string_view::npos) split_sizes(words[next++], sizes);
    constexpr const char* kNames[] = {"M", "N", "K"};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (i == 3) throw ShapeFault{sizes[i].data(), fmt::format("there are more than three sizes: {}", in_quotes(sizes[i])), kLineHelp};
        (i == 0 ? line.m : i == 1 ? line.n : line.k) = parse_sizes(sizes[i], kNames[i]);
    }
    if (sizes.size() < 3) {
        const char* const end = next < words.size() ? words[next].data() : words.back().data() + words.back().size();
        throw ShapeFault{end, fmt::format("{} is missing", kNames[sizes.size()]), kLineHelp};
    }
    for (; next < words.size(); ++next) {
        const std::string_view word = words[next];
        const auto equals = word.find('=');
        if (equals == std::string_view::npos) throw ShapeFault{word.data(), in_quotes(word) + " is not key=value", kLineHelp};
        const std::size_t key = key_index(word.substr(0, equals));
        if (line.names(key)) throw ShapeFault{word.data(), fmt::format("{} is given twice", key_name(key)), "give each key once"};
        set_key(line, key, word.substr(equals + 1), word.data());
    }
    apply_overrides(line, overrides);
    return line;
}

GemmProblem make_problem(const ShapeLine& line, i64 m, i64 n, i64 k) {
    GemmProblem p = line.named;
    problem_field::set_rows_of_c(p, m);
    problem_field::set_columns_of_c(p, n);
    p.k = k;
    std::size_t key = 0;
    for (std::size_t i = 0; i < kProblemFieldCount; ++i) {
        const ProblemField& field = kProblemFields[i];
        if (i > 0 && field.place != kProblemFields[i - 1].place) key = i;
        if (field.key && !line.names(key)) field.set(p, field.unwritten(p));
    }
    p.reads_c = line.beta != 0;
    // Pointers are multiples of their elements' size whatever is said about all three.
    p.alignment = std::max(p.alignment, std::min({size_of(p.type_a), size_of(p.type_b), size_of(p.type_c)}));
    refuse_unused(line, p);
    refuse_gate(line, p);
    refuse_fractions(line, p);
    refuse_walk(line, p);
    const auto lay = [&](char name, i64 rows, i64 columns, ElementType type, i64& ld, i64& stride) {
        if (line.column_major) std::swap(rows, columns);
        const std::size_t ld_key = position_of(std::string("ld") + name);
        const std::size_t stride_key = position_of(std::string("stride_") + name);
        lay_out(line, {name, ld_key, stride_key, rows, columns, type}, p.batch, ld, stride);
    };
    lay('a', stored_rows_a(p), stored_columns_a(p), p.type_a, p.lda, p.stride_a);
    lay('b', stored_rows_b(p), stored_columns_b(p), p.type_b, p.ldb, p.stride_b);
    lay('c', rows_of_c(p), columns_of_c(p), p.type_c, p.ldc, p.stride_c);
    if (p.residual) lay('r', rows_of_c(p), columns_of_c(p), p.type_c, p.ldr, p.stride_r);
    return line.column_major ? as_row_major(p) : p;
}

}  // namespace tmm
