#include "tuner/shard.h"

#include <fmt/core.h>

#include <charconv>
#include <string>
#include <unordered_set>

#include "generator/error.h"
#include "generator/prediction/sample_sizes.h"
#include "generator/problem_hash.h"
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

std::vector<Shape> with_sample_sizes(const std::vector<Shape>& shapes, const DeviceInfo& device) {
    DeviceInfo known = device;
    known.profile = profile_of(device);
    std::vector<Shape> all;
    const auto hash = [](const GemmProblem& problem) { return static_cast<std::size_t>(hash_of(problem)); };
    std::unordered_set<GemmProblem, decltype(hash)> seen;
    const auto add = [&](const Shape& shape, const GemmProblem& problem) {
        if (seen.insert(problem).second) all.push_back({.problem = problem, .alpha = shape.alpha, .beta = shape.beta, .line = shape.line});
    };
    for (const Shape& shape : shapes) {
        if (!shape.varying) {
            add(shape, shape.problem);
            continue;
        }
        const VaryingSize& varying = *shape.varying;
        for (const std::int64_t size : sample_sizes(varying.first, varying.last, varying.problem_of, known))
            add(shape, varying.problem_of(size));
    }
    return all;
}

}  // namespace tmm
