// Reads CSV tables whose heading has columns M, N and K, and JSON objects that have members of these names. The CUTLASS profiler, aiter and
// vLLM's gradlib write such tables; nvMatmulHeuristics takes its problems as JSON, and CUTLASS makes a table of tests from them. Any other
// table may have the keys of a shapes file as columns.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/text/printable.h"
#include "generator/text/foreign_lists/formats.h"
#include "generator/text/foreign_lists/scan.h"
#include "generator/text/spellings.h"

namespace tmm {
namespace {

constexpr char kSeparators[] = {',', ';', '\t'};

// Splits a heading or a row. Separators between quotes do not count.
std::vector<std::string_view> cells_of(std::string_view line, char separator) {
    std::vector<std::string_view> cells;
    bool is_quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= line.size(); ++i) {
        if (i < line.size() && line[i] == '"') is_quoted = !is_quoted;
        if (i < line.size() && (line[i] != separator || is_quoted)) continue;
        cells.push_back(scan::unquoted(scan::trimmed(line.substr(begin, i - begin))));
        begin = i + 1;
    }
    return cells;
}

// The names of a table's columns, and the separator of its cells.
struct Heading {
    std::vector<std::string_view> names;
    char separator = ',';
};

std::optional<Heading> heading_of(std::string_view line) {
    for (const char separator : kSeparators) {
        Heading heading{cells_of(line, separator), separator};
        const auto has = [&](std::string_view name) {
            return std::ranges::any_of(heading.names, [&](std::string_view column) { return scan::same_letters(column, name); });
        };
        if (has("m") && has("n") && has("k")) return heading;
    }
    return std::nullopt;
}

// Pairs each column with the row's cell. Missing cells are empty texts at the end of the row.
scan::Pairs row_of(const Heading& heading, std::string_view line) {
    const std::vector<std::string_view> cells = cells_of(line, heading.separator);
    scan::Pairs row;
    row.reserve(heading.names.size());
    for (std::size_t i = 0; i < heading.names.size(); ++i)
        row.push_back({heading.names[i], i < cells.size() ? cells[i] : line.substr(line.size())});
    return row;
}

// CUTLASS's type tf32 is FP32 in memory and TF32 in the product.
void set_cutlass_types(std::string_view a, std::string_view b, std::string_view result, ForeignProduct& product) {
    const auto stored = [](std::string_view type) -> std::string_view { return lowered(type) == "tf32" ? "f32" : type; };
    product.type_a = stored(a);
    product.type_b = stored(b);
    product.type_c = stored(result);
    if (lowered(a) == "tf32") product.compute = "tf32";
}

// Sets layout and operations. An operand whose order differs from D's is a transposed operand in the order of D.
void set_orders(bool a_is_column, bool b_is_column, bool d_is_column, ForeignProduct& product) {
    product.column_major = d_is_column;
    product.op_a = a_is_column == d_is_column ? "N" : "T";
    product.op_b = b_is_column == d_is_column ? "N" : "T";
}

// An operand is written like "f16:column".
struct Operand {
    std::string_view type;
    bool is_column;
};

Operand operand_of(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view layout = text.substr(std::min(colon + 1, text.size()));
    const auto columns = is_column_major(layout);
    if (!columns) throw ShapeFault{text.data(), fmt::format("{} is no type:row or type:column", in_quotes(text)), "is the line complete?"};
    return {text.substr(0, colon), *columns};
}

void add_profiled(const scan::Pairs& row, ForeignProduct& product) {
    const std::string_view operation = scan::value_of(row, {"operationkind"});
    if (!operation.empty() && lowered(operation) != "gemm")
        refuse_foreign(operation, fmt::format("the operation {}", in_quotes(operation)));
    const std::string_view kind = scan::value_of(row, {"gemm_kind"});
    if (const std::string name = lowered(kind); !kind.empty() && name != "gemm" && !name.starts_with("universal") && name != "batched")
        refuse_foreign(kind, fmt::format("a GEMM of kind {}", in_quotes(kind)));
    const Operand a = operand_of(scan::value_of(row, {"a"}));
    const Operand b = operand_of(scan::value_of(row, {"b"}));
    const Operand c = operand_of(scan::value_of(row, {"c"}));
    const Operand d = scan::has(row, "d") ? operand_of(scan::value_of(row, {"d"})) : c;
    if (product.reads_c() && (lowered(c.type) != lowered(d.type) || c.is_column != d.is_column))
        refuse_foreign(c.type, "a C that lies otherwise than D");
    product.compute = scan::value_of(row, {"accum"});
    set_cutlass_types(a.type, b.type, d.type, product);
    set_orders(a.is_column, b.is_column, d.is_column, product);
    // Only the kernel's name shows that it rounds FP32 operands.
    const std::string_view name = scan::value_of(row, {"operation"});
    for (const std::string_view rounded : {"tf32gemm", "bf16gemm", "f16gemm"})
        if (lowered(a.type) == "f32" && name.find(rounded) != std::string_view::npos) product.compute = "tf32";
}

// In a layout like "tnn", t means row-major and n means column-major.
bool is_column(std::string_view letter) {
    if (letter == "n" || letter == "N") return true;
    if (letter == "t" || letter == "T") return false;
    throw ShapeFault{letter.data(), fmt::format("{} is no layout", in_quotes(letter)), "nvMatmulHeuristics writes t and n, as in tnn"};
}

void add_heuristic(const scan::Pairs& row, ForeignProduct& product) {
    const std::string_view layout = scan::value_of(row, {"layout"});
    std::string_view a = scan::value_of(row, {"layout_a"}), b = scan::value_of(row, {"layout_b"}),
                     d = scan::value_of(row, {"layout_d", "layout_c"});
    if (!layout.empty()) {
        a = layout.substr(0, 1);
        b = layout.substr(std::min<std::size_t>(1, layout.size()), 1);
        d = layout.substr(std::min<std::size_t>(2, layout.size()), 1);
    }
    set_orders(is_column(a), is_column(b), d.empty() || is_column(d), product);
    product.compute = scan::value_of(row, {"dtype_acc"});
    const std::string_view result = scan::value_of(row, {"dtype_d"});
    set_cutlass_types(scan::value_of(row, {"dtype_a"}), scan::value_of(row, {"dtype_b"}),
                      result.empty() ? scan::value_of(row, {"dtype_c"}) : result, product);
    const std::string_view c = scan::value_of(row, {"dtype_c"});
    if (product.reads_c() && !c.empty() && !result.empty() && lowered(c) != lowered(result))
        refuse_foreign(c, "a C of another type than D");
}

// aiter multiplies M x K inputs by N x K weights.
void add_aiter(const scan::Pairs& row, ForeignProduct& product) {
    for (const char* const scales : {"scaleab", "scale_ab"})
        if (const std::string_view value = scan::value_of(row, {scales}); scan::says_yes(value)) product.refuse(value, "scales of A and B");
    if (const std::string_view value = scan::value_of(row, {"bpreshuffle"}); scan::says_yes(value))
        product.refuse(value, "weights whose tiles are reordered");
    product.column_major = false;
    product.op_b = "T";
    product.type_a = scan::value_of(row, {"dtype", "q_dtype_w"});
    product.type_c = scan::value_of(row, {"outdtype"});
    if (scan::says_yes(scan::value_of(row, {"bias"}))) product.epilogue = "bias";
}

// In vLLM's gradlib M counts the rows of the weights and N those of the inputs, as in the column-major BLAS call.
void add_gradlib(const scan::Pairs& row, ForeignProduct& product) {
    product.op_a = "T";
    product.type_a = scan::value_of(row, {"dtype"});
    if (scan::says_yes(scan::value_of(row, {"bias"}))) product.epilogue = "bias_rows";
}

void add_plain(const scan::Pairs& row, ForeignProduct& product) {
    product.column_major = false;
    if (const std::string_view layout = scan::value_of(row, {"layout", "order"}); !layout.empty()) {
        const auto columns = is_column_major(layout);
        if (!columns)
            throw ShapeFault{layout.data(), fmt::format("the layout {} is not one of its values", in_quotes(layout)), "one of row, col"};
        product.column_major = *columns;
    }
    const std::string_view ops = scan::value_of(row, {"ops"});
    product.op_a = scan::value_of(row, {"op_a", "transa", "trans_a", "transposea", "transpose_a"});
    product.op_b = scan::value_of(row, {"op_b", "transb", "trans_b", "transposeb", "transpose_b"});
    if (ops.size() == 2) {
        product.op_a = ops.substr(0, 1);
        product.op_b = ops.substr(1, 1);
    }
    product.type_a = scan::value_of(row, {"dtype", "type_a", "dtype_a", "a_type", "type", "datatype", "data_type", "precision"});
    product.type_b = scan::value_of(row, {"btype", "type_b", "dtype_b", "b_type"});
    product.type_c = scan::value_of(row, {"ctype", "type_c", "d_type", "c_type", "out_dtype"});
    product.compute = scan::value_of(row, {"compute", "compute_type"});
    product.lda = scan::value_of(row, {"lda"});
    product.ldb = scan::value_of(row, {"ldb"});
    product.ldc = scan::value_of(row, {"ldc"});
    product.stride_a = scan::value_of(row, {"stride_a"});
    product.stride_b = scan::value_of(row, {"stride_b"});
    product.stride_c = scan::value_of(row, {"stride_c"});
    product.epilogue = scan::value_of(row, {"epilogue"});
}

ForeignProduct product_of(std::string_view record, const scan::Pairs& row) {
    ForeignProduct product{.record = record};
    product.m = scan::value_of(row, {"m"});
    product.n = scan::value_of(row, {"n"});
    product.k = scan::value_of(row, {"k"});
    product.alpha = scan::value_of(row, {"alpha"});
    product.beta = scan::value_of(row, {"beta"});
    product.batch = scan::value_of(row, {"batch_count", "batch"});
    if (scan::has(row, "a") && scan::has(row, "b") && scan::has(row, "c")) {
        add_profiled(row, product);
    } else if (scan::has(row, "dtype_a") && scan::has(row, "dtype_b") && (scan::has(row, "layout") || scan::has(row, "layout_a"))) {
        add_heuristic(row, product);
    } else if (scan::has(row, "outdtype") || scan::has(row, "cu_num")) {
        if (product.batch.empty()) product.batch = scan::value_of(row, {"b"});
        add_aiter(row, product);
    } else if (scan::has(row, "bias") && scan::has(row, "dtype")) {
        add_gradlib(row, product);
    } else {
        add_plain(row, product);
    }
    return product;
}

// Finds the objects of a JSON text that have members M, N and K, at any depth.
class JsonReader {
public:
    JsonReader(std::string_view text, ForeignList& list) : text_(text), list_(list) {}

    void read() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"') {
                take_string();
            } else if (c == '{') {
                open_.push_back({at_++, {}});
            } else if (c == '}') {
                close();
            } else if (kBetween.find(c) != std::string_view::npos) {
                ++at_;
            } else {
                const std::size_t end = std::min(text_.find_first_of("{}\",]: \t\r\n", at_), text_.size());
                take_value(text_.substr(at_, end - at_));
                at_ = std::max(end, at_ + 1);
            }
        }
        if (open_.empty() || !is_product(open_.back().members)) return;
        list_.leave_out({text_.data() + text_.size(), "there is no } at the end of an object", "is the list complete?"});
    }

private:
    static constexpr std::string_view kBetween = " \t\r\n,[]:";

    struct Object {
        std::size_t begin;
        scan::Pairs members;
    };

    static bool is_product(const scan::Pairs& members) {
        return scan::has(members, "m") && scan::has(members, "n") && scan::has(members, "k");
    }

    // A string before a colon is a name; any other string is a value.
    void take_string() {
        std::size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
        end = std::min(end, text_.size());
        const std::string_view string = text_.substr(at_ + 1, end - at_ - 1);
        at_ = std::min(end + 1, text_.size());
        const std::size_t next = text_.find_first_not_of(" \t\r\n", at_);
        if (next == std::string_view::npos || text_[next] != ':') return take_value(string);
        name_ = string;
        at_ = next + 1;
    }

    void take_value(std::string_view value) {
        if (!open_.empty() && !name_.empty()) open_.back().members.push_back({name_, value == "null" ? value.substr(value.size()) : value});
        name_ = {};
    }

    void close() {
        ++at_;
        name_ = {};
        if (open_.empty()) return;
        const Object object = std::move(open_.back());
        open_.pop_back();
        const std::string_view record = text_.substr(object.begin, at_ - object.begin);
        if (is_product(object.members)) list_.add([&] { return product_of(record, object.members); });
    }

    std::string_view text_;
    ForeignList& list_;
    std::size_t at_ = 0;
    std::vector<Object> open_;
    std::string_view name_;
};

}  // namespace

bool is_csv(std::string_view line) {
    constexpr std::size_t kLongestHeading = 4096;
    return line.size() < kLongestHeading && heading_of(line);
}

void read_csv(std::string_view text, ForeignList& list) {
    std::optional<Heading> heading;
    const char* heading_without_rows = nullptr;
    scan::for_each_line(text, [&](std::string_view line) {
        line = scan::trimmed(line);
        // Tools print other text around their tables, and may print several tables.
        if (line.empty() || line.front() == '#') return;
        const auto is_digit = [](std::string_view cell) { return !cell.empty() && cell.front() >= '0' && cell.front() <= '9'; };
        const scan::Pairs row = heading ? row_of(*heading, line) : scan::Pairs();
        if (!is_digit(scan::value_of(row, {"m"}))) {
            if (auto next = heading_of(line)) {
                heading = std::move(next);
                heading_without_rows = line.data();
                return;
            }
        }
        const bool is_row = line.find(heading ? heading->separator : ',') != std::string_view::npos || is_digit(line);
        if (!heading || !is_row) return;
        heading_without_rows = nullptr;
        list.add([&] { return product_of(line, row); });
    });
    if (heading_without_rows && list.shapes().empty())
        list.leave_out(
            {heading_without_rows, "the table ends with its heading", "write a product's values below it, or M N K, with blanks between"});
}

bool is_json(std::string_view line) {
    for (const std::string_view name : {"\"m\"", "\"M\""}) {
        const std::size_t at = line.find(name);
        if (at != std::string_view::npos && scan::trimmed(line.substr(at + name.size())).starts_with(':')) return true;
    }
    return false;
}

void read_json(std::string_view text, ForeignList& list) {
    JsonReader(text, list).read();
}

}  // namespace tmm
