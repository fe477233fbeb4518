// Reads shapes.txt. Every fault has its line and column, a reason and a way out; the first is told, the others are counted.
#include "generator/text/shapes_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <system_error>
#include <unordered_set>

#include "generator/error.h"
#include "generator/log.h"
#include "generator/plan/matrix_layout.h"
#include "generator/plan/row_major.h"
#include "generator/problem_hash.h"
#include "generator/text/nearest_name.h"
#include "generator/text/printable.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

// Most problems that all ranges may multiply out to.
constexpr std::size_t kMostProblems = 1'000'000;
// A file that is no shapes file is not read to its end.
constexpr std::size_t kMostFaults = 1000;
constexpr std::size_t kLargestFile = 256 << 20;
constexpr i64 kLargest = std::numeric_limits<i64>::max();

// Why a line is refused: where in it, and what would be accepted. It is caught where the file's name and line are known.
struct Fault {
    std::size_t offset = 0;
    std::string what;
    std::string remedy;
};

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

i64 checked_product(i64 a, i64 b, std::size_t offset, const char* what) {
    i64 product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        throw Fault{offset, fmt::format("{} does not fit in 64 bits", what), "use smaller sizes or leading dimensions"};
    return product;
}

i64 parse_count(std::string_view text, std::size_t offset, std::string_view what, i64 least) {
    i64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty()) throw Fault{offset, fmt::format("{} is missing its number", what), "write a whole number"};
    if (end != text.data() + text.size() || error == std::errc::invalid_argument)
        throw Fault{offset, fmt::format("{} = {} is not a whole number", what, in_quotes(text)), "write digits only, like 1024"};
    if (error == std::errc::result_out_of_range)
        throw Fault{offset, fmt::format("{} = {} does not fit in 64 bits", what, in_quotes(text)), fmt::format("use at most {}", kLargest)};
    if (value < least)
        throw Fault{offset, fmt::format("{} = {} is {}", what, value, value < 0 ? "negative" : "too small"),
                    fmt::format("use at least {}", least)};
    return value;
}

double parse_real(std::string_view text, std::size_t offset, std::string_view what) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        throw Fault{offset, fmt::format("{} = {} is not a finite number", what, in_quotes(text)), "write it like 1, 0.5 or -2e3"};
    return value;
}

constexpr const char* kRangeHelp = "write a range as first:last:step, or as first:last:auto";

// One size, or a range first:last:step with both ends in it, or first:last:auto, a size that varies.
struct Sizes {
    i64 first = 0;
    i64 last = 0;
    i64 step = 1;
    bool varies = false;
    std::size_t offset = 0;

    std::size_t count() const { return varies ? 1 : static_cast<std::size_t>((last - first) / step) + 1; }
    i64 at(std::size_t i) const { return varies ? last : first + static_cast<i64>(i) * step; }
};

Sizes parse_sizes(std::string_view text, std::size_t offset, const char* what) {
    std::array<std::string_view, 3> parts;
    std::array<std::size_t, 3> offsets{};
    std::size_t count = 0;
    for (std::size_t begin = 0;;) {
        const auto colon = text.find(':', begin);
        if (count == parts.size()) throw Fault{offset, fmt::format("{} = {} has too many colons", what, in_quotes(text)), kRangeHelp};
        offsets[count] = offset + begin;
        parts[count++] = text.substr(begin, colon == std::string_view::npos ? colon : colon - begin);
        if (colon == std::string_view::npos) break;
        begin = colon + 1;
    }
    Sizes sizes{.offset = offset};
    sizes.first = sizes.last = parse_count(parts[0], offsets[0], what, 1);
    if (count > 1) sizes.last = parse_count(parts[1], offsets[1], what, 1);
    sizes.varies = count > 2 && parts[2] == "auto";
    if (count > 2 && !sizes.varies) sizes.step = parse_count(parts[2], offsets[2], fmt::format("the step of {}", what), 1);
    if (sizes.last < sizes.first)
        throw Fault{offsets[1], fmt::format("the range of {} ends at {}, before it begins at {}", what, sizes.last, sizes.first),
                    kRangeHelp};
    return sizes;
}

// The keys that are no field of a problem, or say more than one.
enum : std::size_t { kLayout = kProblemFieldCount, kAlpha, kBeta, kKeyCount };

// What a line says, before it is made into problems.
struct Line {
    Sizes m, n, k;
    // The fields that the line names.
    GemmProblem named;
    bool column_major = false;
    double alpha = 1;
    double beta = 0;
    // The offset at which each field and key was given; npos where it was not.
    std::array<std::size_t, kKeyCount> offsets;

    bool names(std::size_t key) const { return offsets[key] != std::string_view::npos; }
};

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

i64 parse_number(const ProblemField& field, std::string_view text, std::size_t offset) {
    const i64 value = parse_count(text, offset, field.key, field.range.least_written);
    const bool fits = value <= field.range.most && (!field.range.power_of_two || (value & (value - 1)) == 0);
    if (!fits)
        throw Fault{offset,
                    fmt::format("{} = {} is not {} up to {}", field.key, value, field.range.power_of_two ? "a power of two" : "a number",
                                field.range.most),
                    "write the bytes that the pointers are multiples of, like 16"};
    return value;
}

void set_fields(Line& line, std::size_t first, std::string_view text, std::size_t offset) {
    const std::span<const ProblemField> fields = fields_of_key(first);
    if (fields[0].epilogue_words) {
        if (const auto fault = read_epilogue(text, line.named)) throw Fault{offset, fault->what, fault->remedy};
        return;
    }
    if (!fields[0].is_named()) return fields[0].set(line.named, parse_number(fields[0], text, offset));
    if (fields.size() == 1) {
        // A value that no kernel serves yet is named all the same, so that it is refused with its reason.
        for (int value = 0; value < fields[0].values.count; ++value)
            if (text == fields[0].values.names[value]) return fields[0].set(line.named, value);
        throw Fault{offset, in_quotes(text) + " is not one of its values", "one of " + offered_names(fields[0].values)};
    }
    const std::vector<std::string> words = words_of(fields);
    auto word = std::find(words.begin(), words.end(), text) - words.begin();
    if (word == static_cast<std::ptrdiff_t>(words.size()))
        throw Fault{offset, fmt::format("{} = {} is not one of its values", fields[0].key, in_quotes(text)),
                    fmt::format("one of {}", fmt::join(words, ", "))};
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
        field->set(line.named, word % field->values.offered);
        word /= field->values.offered;
    }
}

void set_key(Line& line, std::size_t key, std::string_view text, std::size_t offset) {
    switch (key) {
        case kLayout:
            if (text != "row" && text != "col")
                throw Fault{offset, "layout = " + in_quotes(text) + " is not one of its values", "one of row, col"};
            line.column_major = text == "col";
            break;
        case kAlpha: line.alpha = parse_real(text, offset, "alpha"); break;
        case kBeta: line.beta = parse_real(text, offset, "beta"); break;
        default: set_fields(line, key, text, offset);
    }
}

const char* key_name(std::size_t key) {
    return key == kLayout ? "layout" : key == kAlpha ? "alpha" : key == kBeta ? "beta" : kProblemFields[key].key;
}

std::size_t key_index(std::string_view name, std::size_t offset) {
    // What beta says of reads_c is part of it.
    const std::size_t order[] = {kLayout, kAlpha, kBeta};
    for (const std::size_t key : order)
        if (name == key_name(key)) return key;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < kProblemFieldCount; ++i) {
        if (!kProblemFields[i].key) continue;
        if (name == kProblemFields[i].key) return i;
        if (names.empty() || names.back() != kProblemFields[i].key) names.emplace_back(kProblemFields[i].key);
    }
    for (const std::size_t key : {kLayout, kAlpha}) names.emplace_back(key_name(key));
    const auto nearest = nearest_name(name, names);
    throw Fault{offset, "there is no key " + in_quotes(name),
                nearest ? fmt::format("did you mean {}?", *nearest) : fmt::format("the keys are {}", fmt::join(names, ", "))};
}

constexpr std::size_t position_of(std::string_view name) {
    std::size_t i = 0;
    while (name != kProblemFields[i].name) ++i;
    return i;
}

struct Word {
    std::string_view text;
    std::size_t offset = 0;
};

// The words of a line, without its comment.
void split(std::string_view line, std::vector<Word>& words) {
    words.clear();
    line = line.substr(0, line.find('#'));
    for (std::size_t i = 0; i < line.size();) {
        if (is_blank(line[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < line.size() && !is_blank(line[end])) ++end;
        words.push_back({line.substr(i, end - i), i});
        i = end;
    }
}

// "1024x1024x1024" as three words.
std::vector<Word> split_sizes(const Word& word) {
    std::vector<Word> sizes;
    for (std::size_t begin = 0;;) {
        const auto end = word.text.find_first_of("xX", begin);
        sizes.push_back({word.text.substr(begin, end == std::string_view::npos ? end : end - begin), word.offset + begin});
        if (end == std::string_view::npos) return sizes;
        begin = end + 1;
    }
}

constexpr const char* kLineHelp = "write M N K, like 1000 1000 1000 or 1000x1000x1000, then key=value pairs";

Line parse_line(const std::vector<Word>& words, const ShapeOverrides& overrides) {
    Line line;
    line.offsets.fill(std::string_view::npos);
    std::vector<Word> sizes;
    std::size_t next = 0;
    while (next < words.size() && sizes.size() < 3 && words[next].text.find('=') == std::string_view::npos) {
        const auto parts = split_sizes(words[next++]);
        sizes.insert(sizes.end(), parts.begin(), parts.end());
    }
    constexpr const char* kNames[] = {"M", "N", "K"};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (i == 3) throw Fault{sizes[i].offset, fmt::format("there are more than three sizes: {}", in_quotes(sizes[i].text)), kLineHelp};
        (i == 0 ? line.m : i == 1 ? line.n : line.k) = parse_sizes(sizes[i].text, sizes[i].offset, kNames[i]);
    }
    if (sizes.size() < 3) {
        const std::size_t end = next < words.size() ? words[next].offset : words.back().offset + words.back().text.size();
        throw Fault{end, fmt::format("{} is missing", kNames[sizes.size()]), kLineHelp};
    }
    for (; next < words.size(); ++next) {
        const Word& word = words[next];
        const auto equals = word.text.find('=');
        if (equals == std::string_view::npos) throw Fault{word.offset, in_quotes(word.text) + " is not key=value", kLineHelp};
        const std::size_t key = key_index(word.text.substr(0, equals), word.offset);
        if (line.names(key)) throw Fault{word.offset, fmt::format("{} is given twice", key_name(key)), "give each key once"};
        line.offsets[key] = word.offset;
        set_key(line, key, word.text.substr(equals + 1), word.offset + equals + 1);
    }
    for (const auto& [name, value] : overrides) {
        const std::size_t key = key_index(name, 0);
        line.offsets[key] = 0;
        set_key(line, key, value, 0);
    }
    return line;
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
void lay_out(const Line& line, const StoredMatrix& matrix, i64 batch, i64& ld, i64& stride) {
    const char name = matrix.name;
    const std::size_t where = line.names(matrix.ld_key) ? line.offsets[matrix.ld_key] : line.m.offset;
    const std::size_t stride_where = line.names(matrix.stride_key) ? line.offsets[matrix.stride_key] : where;
    if (!line.names(matrix.ld_key)) ld = matrix.columns;
    if (ld < matrix.columns)
        throw Fault{where,
                    fmt::format("ld{} = {} is shorter than a stored {} of {} elements", name, ld, line.column_major ? "column" : "row",
                                matrix.columns),
                    fmt::format("use at least {}", matrix.columns)};
    if (batch == 1) {
        stride = 0;
    } else if (!line.names(matrix.stride_key)) {
        stride = checked_product(matrix.rows, ld, where, "the matrix");
    }
    const MatrixLayout layout{
        .rows = matrix.rows, .columns = matrix.columns, .ld = ld, .stride = stride, .batch = batch, .type = matrix.type};
    if (!extent_in_bytes(layout))
        throw Fault{stride_where,
                    fmt::format("the size of {} in bytes does not fit in 64 bits",
                                name == 'r' ? "the residual" : std::string(1, static_cast<char>(name - 'a' + 'A'))),
                    "use smaller sizes or leading dimensions"};
    if (name == 'c' && elements_overlap(layout))
        throw Fault{stride_where, fmt::format("stride_c = {} makes the results of the batch overlap", stride),
                    fmt::format("use at least {}; or {}, where ldc is at least batch times that and the results lie side by side",
                                (matrix.rows - 1) * ld + matrix.columns, matrix.columns)};
}

// What is said of a bias or a residual that is not there.
void refuse_unused(const Line& line, const GemmProblem& p) {
    for (const auto& [name, owner, exists] : {std::tuple{"type_bias", "bias", p.bias != BiasAxis::none},
                                              std::tuple{"ldr", "residual", p.residual}, std::tuple{"stride_r", "residual", p.residual}}) {
        const std::size_t key = position_of(name);
        if (!exists && line.names(key))
            throw Fault{line.offsets[key], fmt::format("{} says nothing where the epilogue has no {}", key_name(key), owner),
                        fmt::format("leave it out, or add {} to the epilogue", owner)};
    }
}

void refuse_gate(const Line& line, const GemmProblem& p) {
    if (!is_gate(p.activation)) return;
    const std::size_t where = line.offsets[position_of("bias")];
    if (p.reads_c) throw Fault{where, fmt::format("{} does not read C", name_of(p.activation)), "leave out beta"};
}

GemmProblem make_problem(const Line& line, i64 m, i64 n, i64 k) {
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

class Parser {
public:
    // single: the text is one line of a command line, not a file.
    Parser(std::string_view text, std::string name, const ShapeOverrides& overrides, bool single, Varying varying)
        : text_(text), name_(std::move(name)), overrides_(overrides), single_(single), varying_(varying) {}

    std::vector<Shape> parse() {
        check_overrides();
        constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
        std::string_view rest = text_;
        if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
        std::vector<Word> words;
        while (!rest.empty()) {
            const auto end = rest.find('\n');
            const std::string_view line = rest.substr(0, end);
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
            ++line_;
            try {
                add_line(line, words);
            } catch (const Fault& fault) {
                note(fault);
            }
            if (faults_ == kMostFaults) break;
        }
        if (first_) throw fault_error();
        if (shapes_.empty()) throw Error(status(), "there is no shape in it", place(std::max(line_, 1), 0), kLineHelp);
        return std::move(shapes_);
    }

private:
    // A fault of --set is nobody's line.
    void check_overrides() const {
        Line line;
        line.offsets.fill(0);
        for (const auto& [key, value] : overrides_) {
            try {
                set_key(line, key_index(key, 0), value, 0);
            } catch (const Fault& fault) {
                throw Error(ExitStatus::usage, fault.what, fmt::format("--set {}={}", key, value), fault.remedy);
            }
        }
    }

    void add_line(std::string_view text, std::vector<Word>& words) {
        if (const auto nul = text.find('\0'); nul != std::string_view::npos)
            throw Fault{nul, "there is a NUL byte: this is no text", kLineHelp};
        split(text, words);
        if (words.empty()) return;
        const Line line = parse_line(words, overrides_);
        check_varying(line);
        const std::size_t counts[] = {line.m.count(), line.n.count(), line.k.count()};
        std::size_t total = 1;
        for (const std::size_t count : counts)
            if (__builtin_mul_overflow(total, count, &total)) total = std::numeric_limits<std::size_t>::max();
        if (total > 1) {
            if (total > kMostProblems - from_ranges_)
                throw Fault{words.front().offset, fmt::format("the ranges multiply out to more than {} problems", kMostProblems),
                            "use larger steps, or several files"};
            from_ranges_ += total;
        }
        for (std::size_t i = 0; i < counts[0]; ++i)
            for (std::size_t j = 0; j < counts[1]; ++j)
                for (std::size_t l = 0; l < counts[2]; ++l)
                    add({make_problem(line, line.m.at(i), line.n.at(j), line.k.at(l)), line.alpha, line.beta, line_,
                         varying_size(line, line.m.at(i), line.n.at(j), line.k.at(l))});
    }

    void check_varying(const Line& line) const {
        const Sizes* first = nullptr;
        for (const Sizes* sizes : {&line.m, &line.n, &line.k}) {
            if (!sizes->varies) continue;
            if (varying_ == Varying::refused)
                throw Fault{sizes->offset,
                            fmt::format("{}:{}:auto is for tmm-tune, which picks the sizes itself", sizes->first, sizes->last),
                            "write a range as first:last:step"};
            if (first) throw Fault{sizes->offset, "two sizes of a line can't vary", "write one of them as first:last:step"};
            first = sizes;
        }
    }

    static std::shared_ptr<const VaryingSize> varying_size(const Line& line, i64 m, i64 n, i64 k) {
        if (line.m.varies)
            return std::make_shared<VaryingSize>(
                VaryingSize{'M', line.m.first, line.m.last, [=](i64 size) { return make_problem(line, size, n, k); }});
        if (line.n.varies)
            return std::make_shared<VaryingSize>(
                VaryingSize{'N', line.n.first, line.n.last, [=](i64 size) { return make_problem(line, m, size, k); }});
        if (line.k.varies)
            return std::make_shared<VaryingSize>(
                VaryingSize{'K', line.k.first, line.k.last, [=](i64 size) { return make_problem(line, m, n, size); }});
        return nullptr;
    }

    // Shapes that differ in alpha and beta alone are one problem.
    void add(const Shape& shape) {
        shapes_.push_back(shape);
        if (shape.varying) return;
        if (!known_.insert(shapes_.size() - 1).second) shapes_.pop_back();
    }

    void note(const Fault& fault) {
        if (++faults_ > 1) return;
        first_ = fault;
        first_line_ = line_;
    }

    Error fault_error() const {
        std::string remedy = first_->remedy;
        if (faults_ == kMostFaults) {
            remedy += fmt::format(" ({} and more lines have faults: is this a shapes file?)", kMostFaults);
        } else if (faults_ > 1) {
            remedy += fmt::format(" ({} lines have faults in all)", faults_);
        }
        return Error(status(), first_->what, place(first_line_, first_->offset), remedy);
    }

    ExitStatus status() const { return single_ ? ExitStatus::usage : ExitStatus::bad_input; }
    std::string place(int line, std::size_t offset) const {
        return single_ ? fmt::format("{}, column {}", name_, offset + 1) : fmt::format("{}:{}:{}", name_, line, offset + 1);
    }

    std::string_view text_;
    std::string name_;
    const ShapeOverrides& overrides_;
    bool single_;
    Varying varying_;
    std::vector<Shape> shapes_;
    // Indices into shapes_, compared by problem.
    struct Hash {
        const std::vector<Shape>* shapes;
        std::size_t operator()(std::size_t i) const { return static_cast<std::size_t>(hash_of((*shapes)[i].problem)); }
    };
    struct Equal {
        const std::vector<Shape>* shapes;
        bool operator()(std::size_t i, std::size_t j) const { return (*shapes)[i].problem == (*shapes)[j].problem; }
    };
    std::unordered_set<std::size_t, Hash, Equal> known_{16, Hash{&shapes_}, Equal{&shapes_}};
    std::size_t from_ranges_ = 0;
    int line_ = 0;
    std::size_t faults_ = 0;
    std::optional<Fault> first_;
    int first_line_ = 0;
};

constexpr const char* kStandardInput = "<stdin>";

std::string read_all(std::istream& stream, const std::string& name) {
    std::string text;
    for (std::vector<char> chunk(1 << 20); stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), stream.gcount() > 0;) {
        text.append(chunk.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > kLargestFile)
            throw Error(ExitStatus::bad_input, fmt::format("it is larger than {} MiB", kLargestFile >> 20), name,
                        "is this a shapes file? If so, split it");
    }
    if (stream.bad()) throw Error(ExitStatus::bad_input, fmt::format("can't be read: {}", std::strerror(errno)), name);
    return text;
}

}  // namespace

std::vector<Shape> parse_shapes(std::string_view text, const std::string& name, const ShapeOverrides& overrides, Varying varying) {
    return Parser(text, name, overrides, false, varying).parse();
}

std::vector<Shape> read_shapes(const std::filesystem::path& file, const ShapeOverrides& overrides, Varying varying) {
    if (file == "-") {
        if (isatty(STDIN_FILENO)) log_line("reading shapes from the terminal, one M N K a line; Ctrl-D ends them");
        return parse_shapes(read_all(std::cin, kStandardInput), kStandardInput, overrides, varying);
    }
    const std::string name = file.string();
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        throw Error(ExitStatus::bad_input, "it is a directory", name, "name a file with one problem a line");
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error(ExitStatus::bad_input, fmt::format("can't be opened: {}", std::strerror(errno)), name,
                    "check the path and its permissions");
    return parse_shapes(read_all(stream, name), name, overrides, varying);
}

Shape parse_shape(std::string_view text, const ShapeOverrides& overrides) {
    const std::string name = "shape " + in_quotes(text);
    if (text.find('\n') != std::string_view::npos) throw Error(ExitStatus::usage, "a shape is one line", name, kLineHelp);
    const std::vector<Shape> shapes = Parser(text, name, overrides, true, Varying::refused).parse();
    if (shapes.size() != 1)
        throw Error(ExitStatus::usage, fmt::format("a range gives {} problems where one is wanted", shapes.size()), name,
                    "name one size each");
    return shapes.front();
}

std::string to_text(const Shape& shape) {
    GemmProblem problem = shape.problem;
    problem.reads_c = false;
    std::string text = to_text(problem);
    if (shape.alpha != 1) text += fmt::format(" alpha={}", shape.alpha);
    if (shape.beta != 0) text += fmt::format(" beta={}", shape.beta);
    return text;
}

}  // namespace tmm
