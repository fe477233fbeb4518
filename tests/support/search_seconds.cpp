#include "tests/support/search_seconds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "generator/choice/cost_model.h"
#include "generator/choice/search_space.h"
#include "generator/text/text.h"
#include "tests/support/replay.h"
#include "tuner/measure/timing.h"
#include "tuner/search/sampling.h"

namespace tmm::testing {
namespace {

// What a search takes beside its samples: for each candidate to be announced, verified and recorded, for each problem to be prepared and
// its run-off to settle, and all these products. The recorded shapes then take 3.9 s on average, as they did on an H200.
constexpr double kRequest_s = 0.065, kRequestProducts = 8;
constexpr double kProblem_s = 0.5, kProblemProducts = 40;
constexpr double kVariantSamples_s = 5e-3;
constexpr double kNoise = 0.01;

// One that was half as large or twice; rows and columns by which tensor cores multiply mostly stay whole.
std::int64_t size_like(std::int64_t size, std::mt19937_64& random) {
    if (size < 8) return size;
    const double factor = std::exp2(2 * static_cast<double>(random() >> 11) * 0x1p-53 - 1);
    const auto like = static_cast<std::int64_t>(std::llround(static_cast<double>(size) * factor));
    return size % 8 == 0 ? std::max<std::int64_t>(8, like / 8 * 8) : std::max<std::int64_t>(1, like);
}

bench::RecordedProblem carried_over(const ShapeLike& like, const DeviceInfo& device) {
    const Shape there = parse_shape(like.recorded->shape);
    bench::RecordedProblem here{.shape = to_text(like.shape), .complete = true};
    const SearchSpace all_there = search_space(there.problem, device, Effort::normal);
    const CostModel model_there(there.problem, device), model_here(like.shape.problem, device);
    std::vector<double> errors;
    std::map<std::string, bench::RecordedTime> times;
    for (const KernelConfig& config : all_there.candidates) {
        const auto found = like.recorded->times.find(fields_text(config));
        if (found == like.recorded->times.end()) continue;
        bench::RecordedTime time = found->second;
        if (time.outcome == Outcome::ok && time.alone_us > 0) {
            const double predicted = model_there.estimate(config);
            time.alone_us /= predicted;
            time.run_off_us /= predicted;
            errors.push_back(time.alone_us);
        }
        times.emplace(found->first, time);
    }
    if (errors.empty()) throw std::runtime_error(like.recorded->shape + " has no times");
    const bench::RecordedTime typical{.alone_us = quantile(std::move(errors), 0.5)};
    for (const KernelConfig& config : search_space(like.shape.problem, device, Effort::normal).candidates) {
        const std::string fields = fields_text(config);
        const auto found = times.find(fields);
        bench::RecordedTime time = found != times.end() ? found->second : typical;
        const double predicted = model_here.estimate(config);
        time.alone_us *= predicted;
        time.run_off_us *= predicted;
        here.times.emplace(fields, time);
    }
    return here;
}

}  // namespace

std::vector<ShapeLike> shapes_like(const bench::RecordedTimes& recorded, std::size_t count, std::uint64_t seed) {
    std::vector<ShapeLike> shapes;
    std::set<std::string> seen;
    for (const auto& [text, problem] : recorded.problems) {
        if (!problem.complete || shapes.size() == count) continue;
        shapes.push_back({parse_shape(text), &problem});
        seen.insert(text);
    }
    std::mt19937_64 random(seed);
    for (const std::size_t recorded_shapes = shapes.size(); shapes.size() < count && recorded_shapes > 0;) {
        const ShapeLike& like = shapes[random() % recorded_shapes];
        const GemmProblem& p = like.shape.problem;
        const std::string recorded_text = to_text(p);
        const std::string more = recorded_text.find(' ') == std::string::npos ? "" : recorded_text.substr(recorded_text.find(' '));
        const auto m = size_like(p.m, random), n = size_like(p.n, random), k = size_like(p.k, random);
        const Shape shape = parse_shape(fmt::format("{}x{}x{}{}", m, n, k, more));
        if (seen.insert(to_text(shape)).second) shapes.push_back({shape, like.recorded});
    }
    return shapes;
}

double search_seconds(const ShapeLike& like, const DeviceInfo& device) {
    const bench::RecordedProblem recorded = carried_over(like, device);
    const ReplayedSearch search = replay_searches(recorded, device, {{.noise = kNoise}})[0];
    if (!search.failure.empty()) throw std::runtime_error(search.shape + ": " + search.failure);
    double product = 0;
    for (const auto& [config, time] : recorded.times)
        if (time.alone_us > 0 && (product == 0 || 1e-6 * time.alone_us < product)) product = 1e-6 * time.alone_us;
    const Certainty certainty = certainty_of(Effort::normal);
    const double beside = kRequest_s + kRequestProducts * product;
    const double around = kProblem_s + kProblemProducts * product + 1e-6 * search.run_off_us;
    // A replay goes by no clock: it asks for all that the search would ask for if its effort had no end. Variants of the fastest, which
    // were not recorded, come behind.
    double searching = 0;
    int results = 0;
    for (const double us : search.request_us) {
        if (searching >= kSearchPart * certainty.seconds && results >= certainty.least_results) break;
        searching += beside + 1e-6 * us;
        ++results;
    }
    return around + searching + search.unrecorded * (beside + kVariantSamples_s);
}

}  // namespace tmm::testing
