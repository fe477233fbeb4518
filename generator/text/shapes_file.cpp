// Reads shapes.txt. Every fault has its line and column, a reason and a way out; the first is told, the others are counted.
#include "generator/text/shapes_file.h"

#include <fmt/core.h>
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
#include <system_error>
#include <unordered_set>

#include "generator/error.h"
#include "generator/log.h"
#include "generator/plan/matrix_layout.h"
#include "generator/plan/row_major.h"
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
// The largest alignment, as a tuning database takes it.
constexpr i64 kLargestAlignment = 1 << 20;
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

// One size, or a range first:last:step with both ends in it.
struct Sizes {
    i64 first = 0;
    i64 last = 0;
    i64 step = 1;
    std::size_t offset = 0;

    std::size_t count() const { return static_cast<std::size_t>((last - first) / step) + 1; }
    i64 at(std::size_t i) const { return first + static_cast<i64>(i) * step; }
};

Sizes parse_sizes(std::string_view text, std::size_t offset, const char* what) {
    std::array<std::string_view, 3> parts;
    std::array<std::size_t, 3> offsets{};
    std::size_t count = 0;
    for (std::size_t begin = 0;;) {
        const auto colon = text.find(':', begin);
        if (count == parts.size())
            throw Fault{offset, fmt::format("{} = {} has too many colons", what, in_quotes(text)), "write a range as first:last:step"};
        offsets[count] = offset + begin;
        parts[count++] = text.substr(begin, colon == std::string_view::npos ? colon : colon - begin);
        if (colon == std::string_view::npos) break;
        begin = colon + 1;
    }
    Sizes sizes{.offset = offset};
    sizes.first = sizes.last = parse_count(parts[0], offsets[0], what, 1);
    if (count > 1) sizes.last = parse_count(parts[1], offsets[1], what, 1);
    if (count > 2) sizes.step = parse_count(parts[2], offsets[2], fmt::format("the step of {}", what), 1);
    if (sizes.last < sizes.first)
        throw Fault{offsets[1], fmt::format("the range of {} ends at {}, before it begins at {}", what, sizes.last, sizes.first),
                    "write a range as first:last:step"};
    return sizes;
}

// What a line says, before it is made into problems. Leading dimensions of 0 and strides of -1 take their defaults.
struct Line {
    Sizes m, n, k;
    std::optional<ElementType> type_a, type_b, type_c;
    std::optional<ComputeMode> compute;
    Operation op_a = Operation::none;
    Operation op_b = Operation::none;
    bool column_major = false;
    i64 batch = 1;
    i64 lda = 0, ldb = 0, ldc = 0;
    i64 stride_a = -1, stride_b = -1, stride_c = -1;
    int alignment = 16;
    Epilogue epilogue = Epilogue::none;
    double alpha = 1;
    double beta = 0;
    // The offset at which each of kKeys was given; npos where it was not.
    std::array<std::size_t, 32> offsets;
};

// The vocabulary's parsers throw Error (usage); here the fault is the file's.
template <typename Parse>
auto parse_name(Parse parse, std::string_view value, std::size_t offset) {
    try {
        return parse(value);
    } catch (const Error& error) {
        throw Fault{offset, in_quotes(value) + " is not one of its values", error.remedy()};
    }
}

struct Key {
    const char* name;
    void (*set)(Line& line, std::string_view value, std::size_t offset);
};

constexpr Key kKeys[] = {
    {"dtype", [](Line& l, std::string_view v, std::size_t o) { l.type_a = parse_name(parse_element_type, v, o); }},
    {"btype", [](Line& l, std::string_view v, std::size_t o) { l.type_b = parse_name(parse_element_type, v, o); }},
    {"ctype", [](Line& l, std::string_view v, std::size_t o) { l.type_c = parse_name(parse_element_type, v, o); }},
    {"compute", [](Line& l, std::string_view v, std::size_t o) { l.compute = parse_name(parse_compute_mode, v, o); }},
    {"ops",
     [](Line& l, std::string_view v, std::size_t o) {
         if (v.size() != 2 || v.find_first_not_of("nt") != std::string_view::npos)
             throw Fault{o, "ops = " + in_quotes(v) + " is not one of its values", "one of nn, nt, tn, tt"};
         l.op_a = v[0] == 't' ? Operation::transpose : Operation::none;
         l.op_b = v[1] == 't' ? Operation::transpose : Operation::none;
     }},
    {"layout",
     [](Line& l, std::string_view v, std::size_t o) {
         if (v != "row" && v != "col") throw Fault{o, "layout = " + in_quotes(v) + " is not one of its values", "one of row, col"};
         l.column_major = v == "col";
     }},
    {"batch", [](Line& l, std::string_view v, std::size_t o) { l.batch = parse_count(v, o, "batch", 1); }},
    {"lda", [](Line& l, std::string_view v, std::size_t o) { l.lda = parse_count(v, o, "lda", 1); }},
    {"ldb", [](Line& l, std::string_view v, std::size_t o) { l.ldb = parse_count(v, o, "ldb", 1); }},
    {"ldc", [](Line& l, std::string_view v, std::size_t o) { l.ldc = parse_count(v, o, "ldc", 1); }},
    {"stride_a", [](Line& l, std::string_view v, std::size_t o) { l.stride_a = parse_count(v, o, "stride_a", 0); }},
    {"stride_b", [](Line& l, std::string_view v, std::size_t o) { l.stride_b = parse_count(v, o, "stride_b", 0); }},
    {"stride_c", [](Line& l, std::string_view v, std::size_t o) { l.stride_c = parse_count(v, o, "stride_c", 0); }},
    {"align",
     [](Line& l, std::string_view v, std::size_t o) {
         const i64 bytes = parse_count(v, o, "align", 1);
         if ((bytes & (bytes - 1)) != 0 || bytes > kLargestAlignment)
             throw Fault{o, fmt::format("align = {} is not a power of two up to {}", bytes, kLargestAlignment),
                         "write the bytes that the pointers are multiples of, like 16"};
         l.alignment = static_cast<int>(bytes);
     }},
    {"alpha", [](Line& l, std::string_view v, std::size_t o) { l.alpha = parse_real(v, o, "alpha"); }},
    {"beta", [](Line& l, std::string_view v, std::size_t o) { l.beta = parse_real(v, o, "beta"); }},
    {"epilogue", [](Line& l, std::string_view v, std::size_t o) { l.epilogue = parse_name(parse_epilogue, v, o); }},
};
static_assert(std::size(kKeys) <= std::tuple_size_v<decltype(Line::offsets)>);

constexpr std::size_t position_of(std::string_view name) {
    std::size_t i = 0;
    while (name != kKeys[i].name) ++i;
    return i;
}

std::size_t key_index(std::string_view name, std::size_t offset) {
    for (std::size_t i = 0; i < std::size(kKeys); ++i)
        if (name == kKeys[i].name) return i;
    std::vector<std::string_view> names;
    for (const Key& key : kKeys) names.emplace_back(key.name);
    const auto nearest = nearest_name(name, names);
    throw Fault{offset, "there is no key " + in_quotes(name),
                nearest ? fmt::format("did you mean {}?", *nearest)
                        : "the keys are dtype, ctype, compute, ops, layout, batch, lda, ldb, ldc, align, alpha, beta"};
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
        if (line.offsets[key] != std::string_view::npos)
            throw Fault{word.offset, fmt::format("{} is given twice", kKeys[key].name), "give each key once"};
        line.offsets[key] = word.offset;
        kKeys[key].set(line, word.text.substr(equals + 1), word.offset + equals + 1);
    }
    for (const auto& [name, value] : overrides) {
        const std::size_t key = key_index(name, 0);
        line.offsets[key] = 0;
        kKeys[key].set(line, value, 0);
    }
    return line;
}

// One of A, B and C as it is stored.
struct StoredMatrix {
    // 0 for A, 1 for B, 2 for C.
    std::size_t index;
    i64 rows;
    i64 columns;
    ElementType type;
};

// Leading dimension and stride, with their defaults; refuses a row that does not fit, and extents past 64 bits.
void lay_out(const Line& line, const StoredMatrix& matrix, i64& ld, i64& stride) {
    const char name = "abc"[matrix.index];
    const std::size_t ld_offset = line.offsets[position_of("lda") + matrix.index];
    const std::size_t stride_offset = line.offsets[position_of("stride_a") + matrix.index];
    const std::size_t where = ld_offset == std::string_view::npos ? line.m.offset : ld_offset;
    const std::size_t stride_where = stride_offset == std::string_view::npos ? where : stride_offset;
    if (ld == 0) ld = matrix.columns;
    if (ld < matrix.columns)
        throw Fault{where,
                    fmt::format("ld{} = {} is shorter than a stored {} of {} elements", name, ld, line.column_major ? "column" : "row",
                                matrix.columns),
                    fmt::format("use at least {}", matrix.columns)};
    if (line.batch == 1) {
        stride = 0;
    } else if (stride < 0) {
        stride = checked_product(matrix.rows, ld, where, "the matrix");
    }
    const MatrixLayout layout{
        .rows = matrix.rows, .columns = matrix.columns, .ld = ld, .stride = stride, .batch = line.batch, .type = matrix.type};
    if (!extent_in_bytes(layout))
        throw Fault{stride_where, fmt::format("the size of {} in bytes does not fit in 64 bits", "ABC"[matrix.index]),
                    "use smaller sizes or leading dimensions"};
    if (name == 'c' && elements_overlap(layout))
        throw Fault{stride_where, fmt::format("stride_c = {} makes the results of the batch overlap", stride),
                    fmt::format("use at least {}; or {}, where ldc is at least batch times that and the results lie side by side",
                                (matrix.rows - 1) * ld + matrix.columns, matrix.columns)};
}

GemmProblem make_problem(const Line& line, i64 m, i64 n, i64 k) {
    GemmProblem p{.m = m, .n = n, .k = k, .batch = line.batch};
    p.type_a = line.type_a.value_or(ElementType::f32);
    p.type_b = line.type_b.value_or(p.type_a);
    p.type_c = line.type_c.value_or(p.type_a);
    p.compute = line.compute.value_or(default_compute(p.type_a));
    p.op_a = line.op_a;
    p.op_b = line.op_b;
    p.lda = line.lda;
    p.ldb = line.ldb;
    p.ldc = line.ldc;
    p.stride_a = line.stride_a;
    p.stride_b = line.stride_b;
    p.stride_c = line.stride_c;
    p.alignment = line.alignment;
    p.reads_c = line.beta != 0;
    p.epilogue = line.epilogue;
    // Pointers are multiples of their elements' size whatever is said about all three.
    p.alignment = std::max(p.alignment, std::min({size_of(p.type_a), size_of(p.type_b), size_of(p.type_c)}));
    const auto lay = [&](std::size_t index, i64 rows, i64 columns, ElementType type, i64& ld, i64& stride) {
        if (line.column_major) std::swap(rows, columns);
        lay_out(line, {index, rows, columns, type}, ld, stride);
    };
    lay(0, stored_rows_a(p), stored_columns_a(p), p.type_a, p.lda, p.stride_a);
    lay(1, stored_rows_b(p), stored_columns_b(p), p.type_b, p.ldb, p.stride_b);
    lay(2, p.m, p.n, p.type_c, p.ldc, p.stride_c);
    return line.column_major ? as_row_major(p) : p;
}

std::size_t hash_of(const GemmProblem& p) {
    std::size_t hash = 0;
    for (const i64 field : {p.m, p.n, p.k, p.batch, p.lda, p.ldb, p.ldc, static_cast<i64>(p.op_a) * 2 + static_cast<i64>(p.op_b)})
        hash = (hash ^ (hash >> 29)) * 0x9e3779b97f4a7c15ULL + static_cast<std::size_t>(field);
    return hash ^ (hash >> 32);
}

class Parser {
public:
    // single: the text is one line of a command line, not a file.
    Parser(std::string_view text, std::string name, const ShapeOverrides& overrides, bool single)
        : text_(text), name_(std::move(name)), overrides_(overrides), single_(single) {}

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
                kKeys[key_index(key, 0)].set(line, value, 0);
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
                    add({make_problem(line, line.m.at(i), line.n.at(j), line.k.at(l)), line.alpha, line.beta, line_});
    }

    // Shapes that differ in alpha and beta alone are one problem.
    void add(const Shape& shape) {
        shapes_.push_back(shape);
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
    std::vector<Shape> shapes_;
    // Indices into shapes_, compared by problem.
    struct Hash {
        const std::vector<Shape>* shapes;
        std::size_t operator()(std::size_t i) const { return hash_of((*shapes)[i].problem); }
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

std::vector<Shape> parse_shapes(std::string_view text, const std::string& name, const ShapeOverrides& overrides) {
    return Parser(text, name, overrides, false).parse();
}

std::vector<Shape> read_shapes(const std::filesystem::path& file, const ShapeOverrides& overrides) {
    if (file == "-") {
        if (isatty(STDIN_FILENO)) log_line("reading shapes from the terminal, one M N K a line; Ctrl-D ends them");
        return parse_shapes(read_all(std::cin, kStandardInput), kStandardInput, overrides);
    }
    const std::string name = file.string();
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        throw Error(ExitStatus::bad_input, "it is a directory", name, "name a file with one problem a line");
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error(ExitStatus::bad_input, fmt::format("can't be opened: {}", std::strerror(errno)), name,
                    "check the path and its permissions");
    return parse_shapes(read_all(stream, name), name, overrides);
}

Shape parse_shape(std::string_view text, const ShapeOverrides& overrides) {
    const std::string name = "shape " + in_quotes(text);
    if (text.find('\n') != std::string_view::npos) throw Error(ExitStatus::usage, "a shape is one line", name, kLineHelp);
    const std::vector<Shape> shapes = Parser(text, name, overrides, true).parse();
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
