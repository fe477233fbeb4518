#include "generator/text/foreign_lists/formats.h"

#include "generator/text/foreign_lists/scan.h"

namespace tmm {
namespace {

// The first row that recognises a line wins.
constexpr ForeignFormat kFormats[] = {
    {"PyTorch's TunableOp", is_tunableop, read_tunableop},  // Its lines may end with YAML of hipblaslt-bench.
    {"rocblas-bench or hipblaslt-bench", is_rocm_bench, read_rocm_bench},
    {"a log of cublasLt", is_cublaslt_log, read_cublaslt_log},
    {"Tensile's YAML", is_tensile, read_tensile},
    {"a header of DeepBench", is_deepbench, read_deepbench},
    {"a JSON list", is_json, read_json},
    {"a CSV table", is_csv, read_csv},
};

// Whether the line begins with sizes, like "8 8 8", "8x8x8" or "1:64:auto 8 8".
bool looks_like_shapes(std::string_view line) {
    constexpr std::string_view kSizes = "0123456789:auto";
    const std::size_t end = line.find_first_not_of(kSizes);
    if (end == 0 || line[0] < '0' || line[0] > '9' || end == std::string_view::npos) return false;
    if (line[end] != 'x' && line[end] != 'X' && scan::kBlanks.find(line[end]) == std::string_view::npos) return false;
    const std::size_t second = line.find_first_not_of(scan::kBlanks, end + (line[end] == 'x' || line[end] == 'X' ? 1 : 0));
    return second != std::string_view::npos && line[second] >= '0' && line[second] <= '9';
}

}  // namespace

std::span<const ForeignFormat> foreign_formats() {
    return kFormats;
}

const ForeignFormat* foreign_format_of(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = scan::trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        if (looks_like_shapes(line)) return nullptr;
        for (const ForeignFormat& format : kFormats)
            if (format.recognises(line)) return &format;
    }
    return nullptr;
}

}  // namespace tmm
