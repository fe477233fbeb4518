#include "runtime/api/gpu_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/error.h"
#include "base/text/printable.h"

namespace tmm {
namespace {

int parse_ordinal(const std::string& text) {
    int ordinal = -1;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
    if (error != std::errc{} || stop != text.data() + text.size() || ordinal < 0)
        throw Error(ExitStatus::usage, fmt::format("{} is no GPU", in_quotes(text)), "--gpu",
                    "give a number such as 0, several such as 0,1, or all, host or auto");
    return ordinal;
}

int parse_auto(const std::string& tool) {
    const bool gpu = gpu_count() > 0;
    std::fprintf(stderr, "%s: --gpu auto: %s\n", tool.c_str(), gpu ? "taking GPU 0" : "no GPU here, taking the emulated device (host)");
    return gpu ? 0 : kHostDevice;
}

}  // namespace

std::vector<int> parse_gpus(const std::string& text, const std::string& tool) {
    if (text == "host") return {kHostDevice};
    if (text == "auto") return {parse_auto(tool)};
    std::vector<int> ordinals;
    if (text == "all") {
        for (int i = 0; i < std::max(gpu_count(), 1); ++i) ordinals.push_back(i);
        return ordinals;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const int ordinal = parse_ordinal(text.substr(begin, end - begin));
        if (std::ranges::find(ordinals, ordinal) != ordinals.end())
            throw Error(ExitStatus::usage, fmt::format("GPU {} is named twice", ordinal), "--gpu", "name each once");
        ordinals.push_back(ordinal);
        begin = end + 1;
    }
    return ordinals;
}

int parse_gpu(const std::string& text, const std::string& tool) {
    const std::vector<int> ordinals = parse_gpus(text, tool);
    if (ordinals.size() == 1) return ordinals.front();
    throw Error(ExitStatus::usage, fmt::format("{} means {} GPUs, and {} runs on one", in_quotes(text), ordinals.size(), tool), "--gpu",
                fmt::format("run it once for each: --gpu {}, then --gpu {}", ordinals[0], ordinals[1]));
}

}  // namespace tmm
