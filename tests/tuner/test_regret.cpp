// Searches, and choices without one, held against recorded times of many configs of each shape: by how much their winners are slower than
// the fastest of all.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/processes/elapsed.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/replay.h"
#include "tests/support/slice.h"
#include "tuner/measure/timing.h"

using namespace tmm::testing;
using tmm::bench::RecordedProblem;

namespace {

namespace fs = std::filesystem;

struct Kind {
    const char* name;
    ReplayOptions options;
};
constexpr double kNoise = 0.01;
// A shape takes a second, and several times that on a busy machine.
constexpr std::size_t kShapesInSlice = 18;
// The part of a recording's shapes whose default config of today may be missing, so that no search of them could begin.
constexpr double kMostLeftOut = 0.05;
const std::vector<Kind>& kinds() {
    static const auto* all = new std::vector<Kind>{
        {"16 candidates", {.most_candidates = 16, .noise = kNoise}},
        {"48 candidates", {.most_candidates = 48, .noise = kNoise}},
        {"quick", {.effort = tmm::Effort::quick, .noise = kNoise}},
        {"normal", {.noise = kNoise}},
    };
    return *all;
}

// What a kind of search may lose, on average and in all but one of a hundred shapes, and the most that it may spend for that on average.
struct Bounds {
    double mean;
    double p99;
    double candidates;
    double samples;
    double run_off_samples;
};
// The bounds of a recording, in the order of the kinds. They leave a third or so above what searches came to, in the worst slice of the
// shapes.
struct Card {
    std::vector<Bounds> kinds;
    // Above this part of the configs that a search asks for, the times say little of it.
    double unrecorded;
    // What is chosen without a search is so fast, beside the fastest, on average and at least.
    double chosen_mean;
    double chosen_least;
};
const Card& card_of(const fs::path& file) {
    static const auto* all = new std::map<std::string, Card>{
        {"regret-h100.csv.gz",
         {.kinds = {{0.036, 0.175, 16, 100, 300}, {0.013, 0.08, 48, 240, 325}, {0.036, 0.16, 35, 100, 102}, {0.0085, 0.05, 205, 570, 330}},
          .unrecorded = 0.38,
          .chosen_mean = 0.93,
          .chosen_least = 0.8}},
        {"regret-h200.csv.gz",
         {.kinds = {{0.038, 0.16, 16, 106, 275}, {0.014, 0.1, 48, 255, 315}, {0.034, 0.15, 35, 112, 97}, {0.017, 0.1, 195, 540, 315}},
          .unrecorded = 0.38,
          .chosen_mean = 0.935,
          .chosen_least = 0.7}}};
    const auto card = all->find(file.filename().string());
    REQUIRE_MESSAGE(card != all->end(), file.string() << " has no bounds here");
    return card->second;
}

std::vector<fs::path> recordings() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(TMM_SOURCE_DIR) / "bench" / "results")) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("regret-") && name.ends_with(".csv.gz")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool has_default(const RecordedProblem& problem, const tmm::DeviceInfo& device) {
    return problem.times.contains(tmm::fields_text(tmm::default_config(tmm::parse_shape(problem.shape).problem, device)));
}

double mean(const std::vector<ReplayedSearch>& searches, const std::function<double(const ReplayedSearch&)>& value) {
    double sum = 0;
    for (const ReplayedSearch& search : searches) sum += value(search);
    return sum / static_cast<double>(searches.size());
}

double mean_regret(const std::vector<ReplayedSearch>& searches) {
    return mean(searches, [](const auto& search) { return search.regret; });
}

double unrecorded_part(const std::vector<ReplayedSearch>& searches) {
    return mean(searches, [](const auto& search) { return search.unrecorded; }) /
           std::max(mean(searches, [](const auto& search) { return search.requests; }), 1.0);
}

double p99_regret(const std::vector<ReplayedSearch>& searches) {
    std::vector<double> regrets;
    for (const ReplayedSearch& search : searches) regrets.push_back(search.regret);
    return tmm::quantile(std::move(regrets), 0.99);
}

std::string summary(const std::vector<ReplayedSearch>& searches) {
    const auto worst = std::max_element(searches.begin(), searches.end(), [](const auto& a, const auto& b) { return a.regret < b.regret; });
    return fmt::format(
        "{} shapes, mean regret {:.2f}%, p99 {:.2f}%, most {:.2f}% ({}); {:.0f} candidates, {:.0f} samples, {:.0f} in the run-off, {:.2f} "
        "s of "
        "them; {:.1f}% of the configs asked for were not recorded",
        searches.size(), 100 * mean_regret(searches), 100 * p99_regret(searches), 100 * worst->regret, worst->shape,
        mean(searches, [](const auto& search) { return search.requests; }),
        mean(searches, [](const auto& search) { return search.samples; }),
        mean(searches, [](const auto& search) { return search.run_off_samples; }),
        mean(searches, [](const auto& search) { return search.sampled_seconds(); }), 100 * unrecorded_part(searches));
}

void check_kind(const Kind& kind, const Bounds& bounds, double most_unrecorded, const std::string& file,
                const std::map<std::string, std::vector<ReplayedSearch>>& by_type) {
    std::vector<ReplayedSearch> all;
    for (const auto& [type, searches] : by_type) {
        fmt::print("{} {}, {}: {}\n", file, type, kind.name, summary(searches));
        all.insert(all.end(), searches.begin(), searches.end());
    }
    REQUIRE(!all.empty());
    const std::string text = fmt::format("{}, {}: {}", file, kind.name, summary(all));
    fmt::print("{}\n", text);
    CHECK_MESSAGE(mean_regret(all) <= bounds.mean, text);
    CHECK_MESSAGE(p99_regret(all) <= bounds.p99, text);
    CHECK_MESSAGE(mean(all, [](const auto& search) { return search.requests; }) <= bounds.candidates, text);
    CHECK_MESSAGE(mean(all, [](const auto& search) { return search.samples; }) <= bounds.samples, text);
    CHECK_MESSAGE(mean(all, [](const auto& search) { return search.run_off_samples; }) <= bounds.run_off_samples, text);
    CHECK_MESSAGE(unrecorded_part(all) <= most_unrecorded, text << "; have it recorded anew: tmm-bench --record");
}

// A shape whose configs take ten times what is predicted.
struct Made {
    explicit Made(const std::string& text, tmm::Effort effort = tmm::Effort::normal)
        : shape(text),
          problem(tmm::parse_shape(text).problem),
          device(tmm::assumed_device("90")),
          configs(tmm::search_space(problem, device, effort).candidates) {
        const tmm::CostModel model(problem, device);
        for (const tmm::KernelConfig& config : configs) estimates.push_back(model.estimate(config));
    }

    RecordedProblem recorded() const {
        RecordedProblem recorded{.shape = shape, .complete = true};
        for (std::size_t i = 0; i < configs.size(); ++i) time_of(recorded, i).alone_us = 10 * estimates[i];
        return recorded;
    }
    tmm::bench::RecordedTime& time_of(RecordedProblem& recorded, std::size_t place) const {
        return recorded.times[tmm::fields_text(configs[place])];
    }
    ReplayedSearch replay(const RecordedProblem& recorded, const ReplayOptions& options) const {
        ReplayedSearch search = replay_searches(recorded, device, {options})[0];
        CHECK_MESSAGE(search.failure.empty(), search.failure);
        return search;
    }

    std::string shape;
    tmm::GemmProblem problem;
    tmm::DeviceInfo device;
    std::vector<tmm::KernelConfig> configs;
    std::vector<double> estimates = {};
};

}  // namespace

TEST_CASE("Searches find configs about as fast as any that was recorded, and spend little on it") {
    const std::vector<fs::path> files = recordings();
    if (files.empty()) MESSAGE("skipped: bench/results has no regret-*.csv.gz, which tmm-bench --record makes on a GPU");
    std::vector<ReplayOptions> options;
    for (const Kind& kind : kinds()) options.push_back(kind.options);
    for (const fs::path& file : files) {
        const Card& card = card_of(file);
        const tmm::bench::RecordedTimes recorded = read_recording(file);
        // By kind, then by type.
        std::vector<std::map<std::string, std::vector<ReplayedSearch>>> found(kinds().size());
        const auto complete =
            std::count_if(recorded.problems.begin(), recorded.problems.end(), [](const auto& entry) { return entry.second.complete; });
        const std::size_t slices = (static_cast<std::size_t>(complete) + kShapesInSlice - 1) / kShapesInSlice;
        std::size_t index = 0;
        std::size_t left_out = 0;
        const auto start = tmm::SteadyClock::now();
        for (const auto& [shape, problem] : recorded.problems) {
            if (!problem.complete || !in_slice(index++, slices)) continue;
            if (!has_default(problem, recorded.device)) {
                fmt::print("{}: {} is left out: its default config was not recorded\n", file.filename().string(), shape);
                ++left_out;
                continue;
            }
            const std::string type(tmm::name_of(tmm::parse_shape(shape).problem.type_a));
            const auto searches = replay_searches(problem, recorded.device, options);
            for (std::size_t i = 0; i < searches.size(); ++i) {
                CHECK_MESSAGE(searches[i].failure.empty(), file.filename().string() << ": " << shape << ": " << searches[i].failure);
                if (searches[i].failure.empty()) found[i][type].push_back(searches[i]);
            }
        }
        REQUIRE_MESSAGE(index > 0, file.string() << " has no complete shape");
        CHECK_MESSAGE(kMostLeftOut * static_cast<double>(index) >= static_cast<double>(left_out),
                      left_out << " shapes are left out; have them recorded anew: tmm-bench --record");
        for (std::size_t i = 0; i < found.size(); ++i)
            check_kind(kinds()[i], card.kinds.at(i), card.unrecorded, file.filename().string(), found[i]);
        fmt::print("{}: replayed in {:.1f} s\n", file.filename().string(), tmm::seconds_since(start));
    }
}

TEST_CASE("What is chosen without a search takes little longer than the fastest config that was recorded") {
    for (const fs::path& file : recordings()) {
        const Card& card = card_of(file);
        const tmm::bench::RecordedTimes recorded = read_recording(file);
        double logarithms = 0;
        int count = 0;
        for (const auto& [shape, problem] : recorded.problems) {
            const auto chosen = problem.times.find(tmm::fields_text(tmm::default_config(tmm::parse_shape(shape).problem, recorded.device)));
            if (!problem.complete || chosen == problem.times.end()) continue;
            double fastest = chosen->second.alone_us;
            for (const auto& [config, time] : problem.times)
                if (time.alone_us > 0) fastest = std::min(fastest, time.alone_us);
            const double part = fastest / chosen->second.alone_us;
            CHECK_MESSAGE(part >= card.chosen_least, shape << ": " << part);
            logarithms += std::log(part);
            ++count;
        }
        REQUIRE(count > 0);
        const double mean = std::exp(logarithms / count);
        fmt::print("{}: what is chosen without a search is {:.1f}% as fast as the fastest, {} shapes\n", file.filename().string(),
                   100 * mean, count);
        CHECK(mean >= card.chosen_mean);
    }
}

TEST_CASE("A replayed search finds the fastest of those that it has time for, and is told by how much it loses otherwise") {
    const Made made("2048x2048x2048 dtype=bf16");
    REQUIRE(made.configs.size() > 64);
    // The predictions are right, but for a common factor.
    RecordedProblem recorded = made.recorded();
    const auto fastest = static_cast<std::size_t>(std::min_element(made.estimates.begin(), made.estimates.end()) - made.estimates.begin());
    CHECK(made.replay(recorded, {.most_candidates = 16}).regret == 0);
    const ReplayedSearch alone = made.replay(recorded, {});
    CHECK(alone.regret == 0);
    CHECK_MESSAGE(static_cast<std::size_t>(alone.requests) < made.configs.size() / 2, alone.requests);
    CHECK_MESSAGE(alone.reason.find("the chance that one of") != std::string::npos, alone.reason);

    // One that the search never asks for is four times as fast.
    made.time_of(recorded, made.configs.size() - 1).alone_us = 2.5 * made.estimates[fastest];
    CHECK(made.replay(recorded, {.most_candidates = 16}).regret == doctest::Approx(3));

    // Beside each other the fastest is slower than all others.
    recorded = made.recorded();
    for (std::size_t i = 0; i < made.configs.size(); ++i) made.time_of(recorded, i).run_off_us = 12 * made.estimates[i];
    made.time_of(recorded, fastest).run_off_us = 30 * made.estimates[fastest];
    const ReplayedSearch beside = made.replay(recorded, {.most_candidates = 16});
    CHECK(beside.regret < 0.03);
    CHECK(beside.winner != tmm::fields_text(made.configs[fastest]));

    // Where the default alone was recorded, all else that the search asks for was not.
    for (std::size_t i = 1; i < made.configs.size(); ++i) recorded.times.erase(tmm::fields_text(made.configs[i]));
    const ReplayedSearch of_default = made.replay(recorded, {.most_candidates = 16});
    CHECK(of_default.requests > 1);
    CHECK(of_default.unrecorded == of_default.requests - 1);
}

TEST_CASE("An old winner within three per cent of the fastest keeps the shape from a search, whichever place it takes") {
    const Made made("2048x2048x2048 dtype=bf16", tmm::Effort::quick);
    const auto is_upset_at = [&](double microseconds) {
        RecordedProblem recorded{.shape = made.shape, .complete = true};
        const double times_us[] = {104, 100, 101, 101.5, 101.8, microseconds, 110};
        for (std::size_t i = 0; i < std::size(times_us); ++i) made.time_of(recorded, i).alone_us = times_us[i];
        const ReplayedSearch race = made.replay(recorded, {.effort = tmm::Effort::quick, .old_winner = made.configs[5]});
        CHECK_MESSAGE(race.reason.find("in a run-off of 7") != std::string::npos, race.reason);
        return race.is_upset;
    };
    CHECK_FALSE(is_upset_at(99));
    CHECK_FALSE(is_upset_at(100.5));
    CHECK_FALSE(is_upset_at(102.5));
    CHECK(is_upset_at(103.5));
    CHECK(is_upset_at(109));
}

TEST_CASE("A search goes on until its own times say that no other can win by much") {
    const Made made("2048x2048x2048 dtype=bf16");
    const auto requests = [&](double error) {
        RecordedProblem recorded = made.recorded();
        std::mt19937 random(1);
        std::normal_distribution<double> normal;
        for (std::size_t i = 0; i < made.configs.size(); ++i) made.time_of(recorded, i).alone_us *= std::exp(error * normal(random));
        return made.replay(recorded, {}).requests;
    };
    const int few = requests(0.01);
    const int more = requests(0.1);
    const int most = requests(0.4);
    CHECK_MESSAGE(few < more, few << ' ' << more);
    CHECK_MESSAGE(more < most, more << ' ' << most);
    CHECK_MESSAGE(static_cast<std::size_t>(most) > made.configs.size() / 4, most);

    // Where other sizes are judged by what is measured, it is not the winner alone that counts.
    CHECK(static_cast<std::size_t>(made.replay(made.recorded(), {.is_sample_size = true}).requests) >= made.configs.size());

    int before = 0;
    for (const tmm::Effort effort : {tmm::Effort::quick, tmm::Effort::normal, tmm::Effort::full}) {
        const Made of_effort("512x512x64 ops=nt batch=96", effort);
        const int now = of_effort.replay(of_effort.recorded(), {.effort = effort, .noise = 0.05}).requests;
        CHECK(now >= before);
        before = now;
    }
}

TEST_CASE("No search ends before the default config was tried, however late its kernels are compiled") {
    const Made made("2048x2048x2048 dtype=bf16");
    RecordedProblem recorded = made.recorded();
    made.time_of(recorded, 0).alone_us = made.estimates.front() / 4;
    for (const int after : {0, 5, 40}) {
        CAPTURE(after);
        const ReplayedSearch search = made.replay(recorded, {.most_candidates = 16, .late_compiled_after = after});
        CHECK(search.winner == tmm::fields_text(made.configs.front()));
        CHECK(search.requests > after);
    }
}

TEST_CASE("An effort's seconds end a search that has enough results, and the decision says so") {
    const Made made("1000x3000x700 dtype=f16", tmm::Effort::quick);
    // All are about as fast, whatever is predicted, so that any may be the fastest.
    RecordedProblem recorded = made.recorded();
    for (std::size_t i = 0; i < made.configs.size(); ++i) made.time_of(recorded, i).alone_us = 100 + static_cast<double>(7 * i % 5);
    const ReplayedSearch quick = made.replay(recorded, {.effort = tmm::Effort::quick});
    CHECK_MESSAGE(quick.reason.find("the 1 s of effort") == std::string::npos, quick.reason);
    const ReplayedSearch slow = made.replay(recorded, {.effort = tmm::Effort::quick, .seconds_per_request = 0.07});
    CHECK_MESSAGE(slow.reason.find("; the 1 s of effort quick ended before ") != std::string::npos, slow.reason);
    CHECK(slow.reason.find("the budget ended") == std::string::npos);
    CHECK(slow.requests < quick.requests);
    CHECK(slow.requests >= 12);
    // Other sizes are judged by a sample size, which has three times as many.
    const ReplayedSearch sample =
        made.replay(recorded, {.effort = tmm::Effort::quick, .is_sample_size = true, .seconds_per_request = 0.07});
    REQUIRE(made.configs.size() <= 36);
    CHECK_MESSAGE(static_cast<std::size_t>(sample.requests) >= made.configs.size(), sample.reason);
}

TEST_CASE("No search ends before known winners and the first four were measured, however late their kernels are compiled") {
    const Made made("1000x3000x700 dtype=f16", tmm::Effort::quick);
    REQUIRE(made.configs.size() >= 24);
    constexpr int kAfter = 20;
    const tmm::KernelConfig known = made.configs.back();
    for (const bool is_known : {false, true}) {
        const tmm::KernelConfig& late = is_known ? known : made.configs[3];
        RecordedProblem recorded = made.recorded();
        recorded.times[tmm::fields_text(late)].alone_us = *std::min_element(made.estimates.begin(), made.estimates.end());
        const std::vector<tmm::KernelConfig> fast = is_known ? std::vector{known} : std::vector<tmm::KernelConfig>{};
        for (const double seconds : {0.0, 0.07}) {
            CAPTURE(is_known);
            CAPTURE(seconds);
            const ReplayedSearch search = made.replay(recorded, {.effort = tmm::Effort::quick,
                                                                 .known_fast = fast,
                                                                 .late_compiled_after = kAfter,
                                                                 .late = late,
                                                                 .seconds_per_request = seconds});
            CHECK(search.requests > kAfter);
            CHECK(search.winner == tmm::fields_text(late));
        }
    }
}

TEST_CASE("A search that was interrupted anywhere goes on to the same winner, and measures nothing twice") {
    const Made made("1000x3000x700 dtype=f16");
    constexpr int kRuns = 5;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        RecordedProblem recorded = made.recorded();
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        // Many are as fast as others, so that it is the order of the search that decides.
        for (std::size_t i = 0; i < made.configs.size(); ++i) {
            double& time = made.time_of(recorded, i).alone_us;
            time = std::pow(1.05, std::round(std::log(time * std::exp(0.05 * normal(random))) / std::log(1.05)));
        }
        ReplayOptions options{.noise = kNoise, .seed = seed};
        const ReplayedSearch whole = made.replay(recorded, options);
        std::string cuts;
        for (int i = 0; i < 2; ++i) {
            options.interruptions.push_back(static_cast<int>(random() % static_cast<unsigned>(whole.requests)));
            cuts += fmt::format(" {}", options.interruptions.back());
        }
        if (seed % 2 == 1) {
            options.compiler_breaks_after = static_cast<int>(random() % static_cast<unsigned>(whole.requests / 2)) + 1;
            cuts += fmt::format(", compiler broken after {}", options.compiler_breaks_after);
        }
        const ReplayedSearch resumed = made.replay(recorded, options);
        const std::string text = fmt::format("seed {}, interrupted after{}: {}; {}", seed, cuts, resumed.reason, resumed.failure);
        CHECK_MESSAGE(resumed.winner == whole.winner, text);
        CHECK_MESSAGE(resumed.requests - resumed.unrecorded == whole.requests - whole.unrecorded, text);
    }
}
