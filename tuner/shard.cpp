#include "tuner/shard.h"

#include <fmt/core.h>

#include <charconv>
#include <string>

#include "generator/error.h"
#include "generator/text/printable.h"

namespace tmm {
namespace {

bool is_number(std::string_view text, int& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Shard parse_shard(std::string_view text) {
    Shard shard;
    const auto slash = text.find('/');
    if (slash == std::string_view::npos || !is_number(text.substr(0, slash), shard.index) ||
        !is_number(text.substr(slash + 1), shard.count) || shard.index < 0 || shard.index >= shard.count)
        throw Error(ExitStatus::usage, fmt::format("--shard {} is no part of a whole", printable(std::string(text))), {},
                    "write I/N with I from 0 to N - 1: 0/16 to 15/16 are sixteen parts");
    return shard;
}

std::vector<Shape> shapes_of(const Shard& shard, const std::vector<Shape>& shapes) {
    std::vector<Shape> mine;
    for (auto i = static_cast<std::size_t>(shard.index); i < shapes.size(); i += static_cast<std::size_t>(shard.count))
        mine.push_back(shapes[i]);
    return mine;
}

}  // namespace tmm
