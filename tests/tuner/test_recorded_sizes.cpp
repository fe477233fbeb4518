// Sizes that vary, held against times of an H100: some were tuned, and what is chosen by them for the others has times of its own.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "generator/choice/cost_model.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/select/selection.h"
#include "tests/support/replay.h"
#include "tuner/search/corrected_model.h"

using namespace tmm;

namespace {

bench::RecordedTimes recording(const std::string& name) {
    return tmm::testing::read_recording(std::filesystem::path(TMM_SOURCE_DIR) / "bench" / "results" / name);
}

// What was measured of a problem, the fastest first.
std::vector<MeasuredCandidate> measured(const bench::RecordedProblem& recorded) {
    std::vector<MeasuredCandidate> all;
    for (const auto& [config, time] : recorded.times)
        if (time.outcome == Outcome::ok && time.alone_us > 0)
            all.push_back({.config = parse_config(config), .measurement = {.median_us = time.alone_us}});
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.measurement.median_us < b.measurement.median_us; });
    return all;
}

// The winners and the candidates of a search of each size that was recorded.
Winners winners_of(const bench::RecordedTimes& recorded, const std::string& left_out = "") {
    std::map<std::int64_t, std::vector<MeasuredCandidate>> by_m;
    std::vector<WinnerRow> rows;
    for (const auto& [shape, problem] : recorded.problems) {
        if (shape == left_out) continue;
        const GemmProblem tuned = parse_shape(shape).problem;
        by_m[tuned.m] = measured(problem);
        const auto winner =
            std::find_if(problem.times.begin(), problem.times.end(), [](const auto& time) { return time.second.run_off_us > 0; });
        REQUIRE_MESSAGE(winner != problem.times.end(), shape);
        rows.push_back({.problem = tuned,
                        .device = recorded.device.name,
                        .compute_capability = recorded.device.compute_capability(),
                        .sm_count = recorded.device.sm_count,
                        .config = parse_config(winner->first),
                        .median_us = winner->second.run_off_us,
                        .origin = "user"});
    }
    return {rows, recorded.device, [by_m](const GemmProblem& tuned) { return by_m.at(tuned.m); }};
}

// What a config takes for a problem: measured, else as the times of the problem's other configs have it.
double time_of(const GemmProblem& problem, const DeviceInfo& device, const std::vector<MeasuredCandidate>& known,
               const KernelConfig& config) {
    const CostModel model(problem, device);
    std::vector<KernelConfig> configs;
    std::vector<double> estimates;
    for (const MeasuredCandidate& candidate : known) {
        if (candidate.config == config) return candidate.measurement.median_us;
        configs.push_back(candidate.config);
        estimates.push_back(model.estimate(candidate.config));
    }
    configs.push_back(config);
    estimates.push_back(model.estimate(config));
    CorrectedModel corrected(configs, estimates);
    for (std::size_t i = 0; i < known.size(); ++i) corrected.observe(i, known[i].measurement.median_us);
    double low = 0.1, high = 1e6;
    while (high / low > 1.0001) {
        const double middle = std::sqrt(low * high);
        (corrected.chance_below(known.size(), middle) < 0.5 ? low : high) = middle;
    }
    return low;
}

struct Served {
    double mean = 1;
    double worst = 1;
};

// How many times as long as the fastest what is chosen takes, over all problems of a recording.
Served serve(const bench::RecordedTimes& own, const std::function<Winners(const std::string& shape)>& winners_for) {
    Served served;
    double logarithms = 0;
    for (const auto& [shape, problem] : own.problems) {
        const GemmProblem asked = parse_shape(shape).problem;
        const std::vector<MeasuredCandidate> known = measured(problem);
        const Selection chosen = winners_for(shape).select(asked);
        const double ratio = time_of(asked, own.device, known, chosen.config) / known.front().measurement.median_us;
        fmt::print("{}: {:.3f} by {}; {}\n", shape, ratio, to_text(chosen.config), chosen.why);
        logarithms += std::log(ratio);
        served.worst = std::max(served.worst, ratio);
    }
    served.mean = std::exp(logarithms / static_cast<double>(own.problems.size()));
    fmt::print("mean {:.4f}, worst {:.3f}\n", served.mean, served.worst);
    return served;
}

}  // namespace

// The bounds leave a third more than is lost.
TEST_CASE("sizes between those that were tuned on an H100 are served nearly as fast as by searches of their own") {
    const bench::RecordedTimes sampled = recording("sizes-sampled-h100.csv.gz");
    const Served served = serve(recording("sizes-own-h100.csv.gz"), [&](const std::string&) { return winners_of(sampled); });
    CHECK(served.mean <= 1.037);
    CHECK(served.worst <= 1.21);
}

// Sizes that are not searched themselves, but whose neighbours were searched to the end.
TEST_CASE("each of many tuned sizes is served nearly as fast by the searches of the others") {
    const bench::RecordedTimes own = recording("sizes-own-h100.csv.gz");
    const Served served = serve(own, [&](const std::string& shape) { return winners_of(own, shape); });
    CHECK(served.mean <= 1.028);
    CHECK(served.worst <= 1.17);
}
