#include "tuner/options/shard.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text/printable.h"
#include "generator/choice/sample_sizes.h"
#include "generator/problem/problem_forms.h"

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

// Least squares over the searches of tests/data/search_seconds.csv. A search takes long where many configs may be the fastest: where K is
// deep beside rows and columns, or these differ, and for products in float, those of a batch above all. The numbers are whole, so that all
// machines come to the same.
std::int64_t expected_milliseconds(const GemmProblem& p) {
    const auto digits = [](std::int64_t size) { return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(size))); };
    const std::int64_t m = digits(p.m), n = digits(p.n), k = digits(p.k);
    const bool is_narrow = p.type_a == ElementType::f16 || p.type_a == ElementType::bf16;
    const std::int64_t deep = std::max<std::int64_t>(0, 2 * k - m - n), flat = std::abs(m - n);
    const std::int64_t candidates = is_narrow ? 3600 + 40 * deep + 25 * flat : 3750 + 65 * deep + 60 * flat + (p.batch > 1 ? 400 : 0);

    // So many products run, at the rate that most candidates multiply such numbers with on a large GPU, and read and write the matrices
    // with.
    constexpr double products = 100, longest = 1e9;
    const double rate = is_narrow ? 4e14 : p.compute == ComputeMode::tf32 ? 2e14 : p.compute == ComputeMode::f32_strict ? 4e13 : 6e13;
    constexpr double bytes_per_second = 2e12;
    const auto rows = static_cast<double>(p.m), columns = static_cast<double>(p.n), depth = static_cast<double>(p.k);
    const double bytes =
        (rows * depth + depth * columns) * static_cast<double>(size_of(p.type_a)) + rows * columns * static_cast<double>(size_of(p.type_c));
    const double product = static_cast<double>(p.batch) * (2 * rows * columns * depth / rate + bytes / bytes_per_second);
    return candidates + static_cast<std::int64_t>(std::min(longest, 1e3 * products * product));
}

// The longest come first, each to the part that has the least to do until then.
std::vector<Shape> shapes_of(const Shard& shard, const std::vector<Shape>& shapes) {
    if (shard.count == 1) return shapes;
    std::vector<std::int64_t> milliseconds;
    for (const Shape& shape : shapes) milliseconds.push_back(expected_milliseconds(shape.problem));
    std::vector<std::size_t> order(shapes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return milliseconds[a] > milliseconds[b]; });

    using Part = std::pair<std::int64_t, int>;
    std::priority_queue<Part, std::vector<Part>, std::greater<>> parts;
    for (int i = 0; i < shard.count && static_cast<std::size_t>(i) < shapes.size(); ++i) parts.emplace(0, i);
    std::vector<std::size_t> mine;
    for (const std::size_t i : order) {
        const auto [busy, part] = parts.top();
        parts.pop();
        parts.emplace(busy + milliseconds[i], part);
        if (part == shard.index) mine.push_back(i);
    }
    std::sort(mine.begin(), mine.end());
    std::vector<Shape> part;
    for (const std::size_t i : mine) part.push_back(shapes[i]);
    return part;
}

std::vector<Shape> with_sample_sizes(const std::vector<Shape>& shapes, const DeviceInfo& device) {
    // Problems of a list are all different.
    if (std::none_of(shapes.begin(), shapes.end(), [](const Shape& shape) { return shape.varying != nullptr; })) return shapes;
    DeviceInfo known = device;
    known.profile = profile_of(device);
    std::vector<Shape> all;
    const auto hash = [](const GemmProblem& problem) { return static_cast<std::size_t>(hash_of(problem)); };
    std::unordered_map<GemmProblem, std::size_t, decltype(hash)> places;
    const auto add = [&](const Shape& shape, const GemmProblem& problem) {
        const auto [place, is_new] = places.try_emplace(problem, all.size());
        if (is_new) all.push_back({.problem = problem, .alpha = shape.alpha, .beta = shape.beta, .line = shape.line});
        if (shape.varying) all[place->second].is_sample_size = true;
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
