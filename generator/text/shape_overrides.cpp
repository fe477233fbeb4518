#include "generator/text/shape_overrides.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/printable.h"

namespace tmm {

ShapeOverrides parse_overrides(const std::vector<std::string>& settings) {
    ShapeOverrides overrides;
    for (const std::string& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            throw Error(ExitStatus::usage, fmt::format("{} is not key=value", in_quotes(setting)), "--set",
                        "write it like --set compute=f32_strict");
        const std::string key = setting.substr(0, equals);
        if (std::ranges::any_of(overrides, [&](const auto& other) { return other.first == key; }))
            throw Error(ExitStatus::usage, fmt::format("{} is given twice", in_quotes(key)), "--set", "give each key once");
        overrides.emplace_back(key, setting.substr(equals + 1));
    }
    return overrides;
}

}  // namespace tmm
