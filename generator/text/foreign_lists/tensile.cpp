// Reads Tensile's configurations. A problem type has types and operations of column-major matrices; sizes M, N, batch and K follow it:
//     - OperationType: GEMM
//       DataType: h
//       TransposeA: True
//     …
//         - ProblemSizes:
//           - Exact: [768, 24, 1, 64]
//           - Range: [[64, 64, 256], 0, [1], [512]]
// Only these keys of the YAML are read, line by line; the others say how to search kernels.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "base/text/printable.h"
#include "generator/text/foreign_lists/formats.h"
#include "generator/text/foreign_lists/scan.h"
#include "generator/text/spellings.h"

namespace tmm {
namespace {

// All ranges of a list together may multiply out to this many problems.
constexpr std::size_t kMostProblems = 1'000'000;

// These keys of a problem type change what is multiplied.
constexpr std::string_view kTypeKeys[] = {"OperationType", "DataType",       "DestDataType",     "ComputeDataType", "TransposeA",
                                          "TransposeB",    "UseBias",        "Activation",       "ActivationType",  "F32XdlMathOp",
                                          "GroupedGemm",   "Sparse",         "BiasDataTypeList", "UseScaleAB",      "UseE",
                                          "Gradient",      "StridedBatched", "DataTypeA",        "DataTypeB"};

class ProblemType {
public:
    void set(std::string_view key, std::string_view value) {
        // The first key after a list of sizes begins another type.
        if (has_sizes_) keys_.clear();
        has_sizes_ = false;
        keys_[key] = value;
    }
    void end() { has_sizes_ = true; }

    void describe(ForeignProduct& product) const {
        if (const std::string_view type = get("OperationType"); !type.empty() && type != "GEMM")
            product.refuse(type, fmt::format("the operation {}", in_quotes(type)));
        for (const auto& [key, what] : {std::pair{"GroupedGemm", "a grouped product"},
                                        {"Sparse", "a sparse operand"},
                                        {"UseScaleAB", "scales of A and B"},
                                        {"UseE", "a second output of the epilogue"},
                                        {"Gradient", "an epilogue of the backward pass"}})
            if (scan::says_yes(get(key))) product.refuse(get(key), what);
        if (const std::string_view strided = get("StridedBatched"); !strided.empty() && !scan::says_yes(strided))
            product.refuse(strided, "arrays of pointers");
        product.type_a = get(get("DataTypeA").empty() ? "DataType" : "DataTypeA");
        product.type_b = get("DataTypeB");
        product.type_c = get("DestDataType");
        product.compute = get("ComputeDataType");
        const std::string math = lowered(get("F32XdlMathOp"));
        if (math == "x" || math == "xf32") product.compute = "tf32";
        if (lowered(product.type_a) == "x") {
            product.type_a = "s";
            product.compute = "tf32";
        }
        product.op_a = scan::says_yes(get("TransposeA")) ? "T" : "N";
        product.op_b = scan::says_yes(get("TransposeB")) ? "T" : "N";
        product.epilogue = epilogue();
    }

private:
    std::string_view get(std::string_view key) const {
        const auto found = keys_.find(key);
        return found == keys_.end() ? std::string_view() : found->second;
    }
    // A type with several activations (ActivationType: all) does not say which one a call uses.
    std::string epilogue() const {
        std::string epilogue = scan::says_yes(get("UseBias")) ? "bias_rows" : "";
        if (!scan::says_yes(get("Activation"))) return epilogue;
        const std::string activation = lowered(get("ActivationType"));
        for (const auto& [theirs, ours] :
             {std::pair{"relu", "relu"}, {"gelu", "gelu_tanh"}, {"silu", "silu"}, {"sigmoid", "sigmoid"}, {"tanh", "tanh"}})
            if (activation == theirs) epilogue += (epilogue.empty() ? "" : "+") + std::string(ours);
        return epilogue;
    }

    std::map<std::string_view, std::string_view> keys_;
    bool has_sizes_ = false;
};

// Returns the items of a list in brackets; an item may be a list.
std::vector<std::string_view> items_of(std::string_view list) {
    const std::size_t begin = list.find('[');
    const std::size_t end = list.rfind(']');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
        throw ShapeFault{list.data(), "the sizes are no list in brackets", "is the line complete?"};
    std::vector<std::string_view> items;
    int depth = 0;
    std::size_t start = begin + 1;
    for (std::size_t i = begin + 1; i <= end; ++i) {
        if (list[i] == '[') ++depth;
        if (list[i] == ']' && i < end) --depth;
        if ((list[i] == ',' && depth == 0) || i == end) {
            items.push_back(scan::trimmed(list.substr(start, i - start)));
            start = i + 1;
        }
    }
    return items;
}

i64 number(std::string_view text) {
    i64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw ShapeFault{text.data(), fmt::format("{} is not a whole number", in_quotes(text)), "Tensile writes sizes as [M, N, batch, K]"};
    return value;
}

// Reads [M, N, batch, K] or [M, N, K], which leading dimensions of D, C, A and B may follow; 0 and -1 are their defaults.
ForeignProduct exact(std::string_view record, std::string_view sizes, const ProblemType& type) {
    ForeignProduct product{.record = record};
    type.describe(product);
    const std::vector<std::string_view> items = items_of(sizes);
    const std::size_t indices = items.size() % 4 == 0 ? 4 : 3;
    if (items.size() != indices && items.size() != indices + 4)
        throw ShapeFault{sizes.data(), fmt::format("there are {} sizes", items.size()), "Tensile writes sizes as [M, N, batch, K]"};
    product.m = items[0];
    product.n = items[1];
    if (indices == 4) product.batch = items[2];
    product.k = items[indices - 1];
    if (items.size() == indices) return product;
    const auto given = [](std::string_view ld) { return number(ld) > 0 ? ld : std::string_view(); };
    product.ldc = given(items[indices]);
    product.lda = given(items[indices + 2]);
    product.ldb = given(items[indices + 3]);
    return product;
}

// Expands one dimension of a range: [first], [first, last], [first, step, last] or [first, step, growth of the step, last].
std::vector<i64> sizes_of(std::string_view item, std::size_t most) {
    const std::vector<std::string_view> items = items_of(item);
    if (items.size() > 4)
        throw ShapeFault{item.data(), "there are more than four numbers", "write [first, step, growth of the step, last]"};
    const i64 first = number(items.front());
    const i64 last = number(items.back());
    i64 step = items.size() > 2 ? number(items[1]) : items.size() == 2 ? first : 1;
    const i64 growth = items.size() > 3 ? number(items[2]) : 0;
    std::vector<i64> sizes;
    for (i64 size = first; size <= last;) {
        if (sizes.size() == most)
            throw ShapeFault{item.data(), fmt::format("the ranges multiply out to more than {} problems", kMostProblems),
                             "use larger steps"};
        sizes.push_back(size);
        if (step <= 0 || __builtin_add_overflow(size, step, &size)) break;
        if (__builtin_add_overflow(step, growth, &step)) break;
    }
    if (sizes.empty()) throw ShapeFault{item.data(), "the range ends before it begins", "write [first, step, last]"};
    return sizes;
}

class Reader {
public:
    explicit Reader(ForeignList& list) : list_(list) {}

    void read(std::string_view line) {
        if (const std::size_t comment = line.find('#'); comment != std::string_view::npos) line = line.substr(0, comment);
        line = scan::trimmed(line);
        while (line.starts_with("-")) line = scan::trimmed(line.substr(1));
        const std::string_view record = line;
        const std::string_view key = scan::trimmed(line.substr(0, line.find(':')));
        if (key == "Exact" || key == "Range") {
            type_.end();
            const std::string_view sizes = scan::trimmed(line.substr(std::min(key.size() + 1, line.size())));
            if (key == "Exact") return list_.add([&] { return exact(record, sizes, type_); });
            return add_range(record, sizes);
        }
        for (const std::string_view field : scan::parts(line, ',')) read_key(field);
    }

private:
    void read_key(std::string_view field) {
        constexpr std::string_view kBraces = " \t{}";
        const std::size_t begin = std::min(field.find_first_not_of(kBraces), field.size());
        field = field.substr(begin, field.find_last_not_of(kBraces) + 1 - begin);
        const std::size_t colon = field.find(':');
        if (colon == std::string_view::npos) return;
        const std::string_view key = scan::trimmed(field.substr(0, colon));
        if (std::ranges::find(kTypeKeys, key) == std::end(kTypeKeys)) return;
        type_.set(key, scan::unquoted(scan::trimmed(field.substr(colon + 1))));
    }

    void add_range(std::string_view record, std::string_view text) {
        // An index in place of a list means the same size as in that dimension.
        std::vector<std::vector<i64>> sizes;
        std::array<std::optional<std::size_t>, 4> same{};
        std::size_t count = 1;
        try {
            const std::vector<std::string_view> items = items_of(text);
            if (items.size() != 3 && items.size() != 4)
                throw ShapeFault{text.data(), fmt::format("there are {} ranges", items.size()),
                                 "Tensile writes [M, N, batch, K], each a range"};
            for (std::size_t i = 0; i < items.size(); ++i) {
                if (items[i].starts_with('[')) {
                    sizes.push_back(sizes_of(items[i], kMostProblems - from_ranges_));
                } else {
                    same[i] = static_cast<std::size_t>(number(items[i]));
                    if (*same[i] >= i || same[*same[i]])
                        throw ShapeFault{items[i].data(), "no size stands there", "name the place of a range before it"};
                    sizes.push_back({0});
                }
                if (__builtin_mul_overflow(count, sizes.back().size(), &count) || count > kMostProblems - from_ranges_)
                    throw ShapeFault{text.data(), fmt::format("the ranges multiply out to more than {} problems", kMostProblems),
                                     "use larger steps"};
            }
        } catch (const ShapeFault& fault) {
            return list_.leave_out(fault);
        }
        from_ranges_ += count;
        bool told = false;
        for (std::size_t i = 0; i < count; ++i) {
            try {
                add_point(record, sizes, same, i);
            } catch (const ShapeFault& fault) {
                // Most faults are faults of the type, which all points share.
                if (!told) list_.leave_out(fault);
                told = true;
            }
        }
    }

    // Adds the i-th problem of a range.
    void add_point(std::string_view record, const std::vector<std::vector<i64>>& sizes,
                   const std::array<std::optional<std::size_t>, 4>& same, std::size_t i) {
        std::array<i64, 4> point{};
        for (std::size_t d = sizes.size(); d-- > 0;) {
            point[d] = sizes[d][i % sizes[d].size()];
            i /= sizes[d].size();
        }
        std::array<std::string, 4> texts;
        for (std::size_t d = 0; d < sizes.size(); ++d) texts[d] = std::to_string(point[same[d].value_or(d)]);
        ForeignProduct product{.record = record};
        type_.describe(product);
        product.m = texts[0];
        product.n = texts[1];
        if (sizes.size() == 4) product.batch = texts[2];
        product.k = texts[sizes.size() - 1];
        list_.add_product(product);
    }

    ForeignList& list_;
    ProblemType type_;
    std::size_t from_ranges_ = 0;
};

}  // namespace

bool is_tensile(std::string_view line) {
    while (line.starts_with("-")) line = scan::trimmed(line.substr(1));
    for (const std::string_view key :
         {"GlobalParameters:", "BenchmarkProblems:", "ProblemSizes:", "OperationType:", "TestParameters:", "LibraryLogic:"})
        if (line.starts_with(key)) return true;
    return (line.starts_with("Exact:") || line.starts_with("Range:")) && line.find('[') != std::string_view::npos;
}

void read_tensile(std::string_view text, ForeignList& list) {
    Reader reader(list);
    scan::for_each_line(text, [&](std::string_view line) { reader.read(line); });
}

}  // namespace tmm
