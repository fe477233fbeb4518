// Reads the lists of DeepBench's headers (gemm_problems.h). Each tuple has M, N, K, and whether the column-major A and B are transposed:
//     std::make_tuple(1760, 16, 1760, false, false),
// The rest of the C++ text is skipped. A tuple names no type; --set dtype=f16 adds one.
#include <algorithm>

#include "base/text/printable.h"
#include "generator/text/foreign_lists/formats.h"
#include "generator/text/foreign_lists/scan.h"

namespace tmm {
namespace {

constexpr std::string_view kTuple = "make_tuple(";

std::string_view operation(std::string_view transposes) {
    if (transposes == "true" || transposes == "1") return "T";
    if (transposes == "false" || transposes == "0") return "N";
    throw ShapeFault{transposes.data(), in_quotes(transposes) + " is neither true nor false", "DeepBench writes m, n, k, a_t, b_t"};
}

ForeignProduct product_of(std::string_view record, std::string_view values) {
    const std::vector<std::string_view> parts = scan::parts(values, ',');
    if (parts.size() != 5)
        throw ShapeFault{record.data(), "it has " + std::to_string(parts.size()) + " values, so that it is no GEMM of DeepBench",
                         "DeepBench writes m, n, k, a_t, b_t"};
    return {.record = record, .m = parts[0], .n = parts[1], .k = parts[2], .op_a = operation(parts[3]), .op_b = operation(parts[4])};
}

// Returns the end of the comment that begins here, or the same position if none does.
std::size_t after_comment(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
    if (text.substr(at, 2) != "/*") return at;
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
}

}  // namespace

bool is_deepbench(std::string_view line) {
    return line.find(kTuple) != std::string_view::npos || line.find("std::tuple<int, int, int, bool, bool>") != std::string_view::npos;
}

void read_deepbench(std::string_view text, ForeignList& list) {
    for (std::size_t at = 0; (at = text.find_first_of("/m", at)) != std::string_view::npos;) {
        const std::size_t behind = after_comment(text, at);
        if (behind != at || text.substr(at, kTuple.size()) != kTuple) {
            at = std::max(behind, at + 1);
            continue;
        }
        const std::size_t begin = at + kTuple.size();
        // These characters can't occur in a tuple, so that one of them before the ) means that the tuple is cut off.
        const std::size_t end = text.find_first_of(");{}=", begin);
        const bool is_whole = end != std::string_view::npos && text[end] == ')';
        const std::size_t stop = is_whole ? end : std::min(text.find('\n', begin), text.size());
        const std::string_view record = text.substr(at, stop - at);
        list.add([&] {
            if (!is_whole) throw ShapeFault{record.data() + record.size(), "there is no ) at its end", "is the line complete?"};
            return product_of(record, text.substr(begin, end - begin));
        });
        at = stop;
    }
}

}  // namespace tmm
