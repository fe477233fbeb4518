// Tests sizes that vary: a few of them are tuned, and near winners serve all others. The truth is simulated: what the models predict, times
// an error that every config has for itself, times what differs from one measurement to the next.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/sample_sizes.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/plan/plan_cache.h"
#include "runtime/select/selection.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/slice.h"
#include "tests/support/temporary_directory.h"
#include "tuner/options/shard.h"
#include "tuner/search/earlier_decision.h"
#include "tuner/search/pending_problem.h"

using namespace tmm;

namespace {

constexpr std::int64_t kLast = 8192;
// With so large an error of its configs, the best prediction takes some 1.05 times as long as the best config, as on an H100.
constexpr double kErrorOfConfig = 0.035;
constexpr double kErrorOfMeasurement = 0.005;

struct Line {
    const char* rest;
    const char* architecture;
    // So many times as long as its own winner may a size take, and one in so many may take over 1.05 times as long: where the errors of two
    // configs are far apart.
    double worst = 1.08;
    std::size_t slow_in = 50;
};
constexpr Line kLines[] = {{"4096 4096 dtype=bf16 ops=nt", "90"},  {"11008 4096 ops=nt", "90", 1.1, 40},
                           {"28672 8192 dtype=bf16 ops=nt", "90"}, {"4096 14336 dtype=f16 ops=nt", "80"},
                           {"768 768 compute=f32_strict", "90"},   {"5120 5120 dtype=bf16 epilogue=bias+silu", "89"}};

// A normal number that follows from the text.
double noise_of(const std::string& text) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    std::mt19937_64 random(hash);
    // Sums of twelve uniform numbers are near enough, and the same with every library.
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
    return sum;
}

class SimulatedLine {
public:
    explicit SimulatedLine(const Line& line) : line_(line), device_(assumed_device(line.architecture)) {}

    const DeviceInfo& device() const { return device_; }
    GemmProblem problem(std::int64_t m) const { return parse_shape(std::to_string(m) + " " + line_.rest).problem; }

    // The kernel is the same whether it overlaps another, and nearly so at edges.
    double truth(const GemmProblem& p, KernelConfig config) const {
        const double predicted = CostModel(p, device_).estimate(config);
        const double at_size = noise_of(to_text(config) + to_text(p));
        config.overlap = config.boundary = 0;
        return predicted * std::exp(kErrorOfConfig * noise_of(fields_text(config)) + kErrorOfMeasurement * at_size);
    }

    // What a search of the size measures, the fastest first.
    const std::vector<MeasuredCandidate>& measured(std::int64_t m) {
        std::vector<MeasuredCandidate>& all = measured_[m];
        if (!all.empty()) return all;
        const GemmProblem p = problem(m);
        for (const KernelConfig& config : search_space(p, device_, Effort::normal).candidates)
            all.push_back({.config = config, .measurement = {.median_us = truth(p, config)}});
        std::stable_sort(all.begin(), all.end(),
                         [](const auto& a, const auto& b) { return a.measurement.median_us < b.measurement.median_us; });
        return all;
    }

    WinnerRow winner(std::int64_t m) {
        const MeasuredCandidate& best = measured(m).front();
        return {.problem = problem(m),
                .device = device_.name,
                .compute_capability = device_.compute_capability(),
                .sm_count = device_.sm_count,
                .config = best.config,
                .median_us = best.measurement.median_us,
                .origin = "user"};
    }

    Winners tuned_at(const std::vector<std::int64_t>& sizes) {
        std::vector<WinnerRow> rows;
        for (const std::int64_t m : sizes) rows.push_back(winner(m));
        return Winners(rows, device_, [this](const GemmProblem& tuned) { return measured(tuned.m); });
    }

private:
    const Line& line_;
    DeviceInfo device_;
    std::map<std::int64_t, std::vector<MeasuredCandidate>> measured_;
};

// Sizes of every octave, none of them chosen for its divisors.
std::vector<std::int64_t> asked_sizes(std::size_t count) {
    std::mt19937 random(7);
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < count; ++i) {
        const double place = (static_cast<double>(i) + static_cast<double>(random()) / 4294967296.0) / static_cast<double>(count);
        sizes.push_back(std::llround(std::pow(static_cast<double>(kLast), place)));
    }
    return sizes;
}

}  // namespace

TEST_CASE("after sixteen tuned sizes of 1 to 8192, every other is served within 5% of its own winner, on average within 2%") {
    std::size_t index = 0;
    for (const Line& of : kLines) {
        if (!tmm::testing::in_slice(index++, 3)) continue;
        CAPTURE(std::string(of.rest));
        SimulatedLine line(of);
        const std::vector<std::int64_t> sizes = sample_sizes(
            1, kLast, [&](std::int64_t m) { return line.problem(m); }, line.device());
        CHECK(sizes.size() <= 16);
        const Winners winners = line.tuned_at(sizes);
        double logarithms = 0, guessed = 0;
        std::size_t slow = 0;
        const std::vector<std::int64_t> asked = asked_sizes(tmm::testing::test_setting("FULL", 0) != 0 ? 120 : 24);
        for (const std::int64_t m : asked) {
            CAPTURE(m);
            const GemmProblem p = line.problem(m);
            const Selection chosen = winners.select(p);
            CAPTURE(chosen.why);
            const double best = line.measured(m).front().measurement.median_us;
            // What is chosen may be better than all that a search of this size would look at.
            const double ratio = std::max(1.0, line.truth(p, chosen.config) / best);
            CHECK(ratio <= of.worst);
            if (ratio > 1.05) ++slow;
            logarithms += std::log(ratio);
            guessed += std::log(line.truth(p, default_config(p, line.device())) / best);
        }
        CHECK(slow <= asked.size() / of.slow_in);
        const auto count = static_cast<double>(asked.size());
        CHECK(std::exp(logarithms / count) <= 1.02);
        MESSAGE(std::string(of.rest), ": ", std::exp(logarithms / count), " of the best, guesses ", std::exp(guessed / count));
    }
}

TEST_CASE("few sizes are tuned as they are, a short range needs few, and a long one no more than sixteen") {
    const DeviceInfo device = assumed_device("90");
    const auto of = [&](std::int64_t first, std::int64_t last, const std::string& rest) {
        return sample_sizes(
            first, last, [&](std::int64_t m) { return parse_shape(std::to_string(m) + rest).problem; }, device);
    };
    CHECK(of(64, 64, " 4096 4096") == std::vector<std::int64_t>{64});
    CHECK(of(4096, 4224, " 4096 4096").size() <= 4);
    const std::vector<std::int64_t> sizes = of(1, 1 << 20, " 4096 4096 dtype=bf16");
    CHECK(sizes.size() == 16);
    CHECK(std::is_sorted(sizes.begin(), sizes.end()));
    CHECK(sizes.front() >= 1);
    CHECK(sizes.back() <= 1 << 20);
    // Sizes whose kernels differ have their own: rows of C that begin anywhere.
    const std::vector<std::int64_t> columns = sample_sizes(
        1, 1024, [](std::int64_t n) { return parse_shape("512 " + std::to_string(n) + " 512 dtype=bf16").problem; }, device);
    CHECK(std::any_of(columns.begin(), columns.end(), [](std::int64_t n) { return n % 2 == 1; }));
    CHECK(std::any_of(columns.begin(), columns.end(), [](std::int64_t n) { return n % 8 == 0; }));
}

TEST_CASE("a sample size is one wherever else the list has it") {
    const DeviceInfo device = assumed_device("90");
    const std::string line = "1:8192:auto 4096 4096\n";
    const std::string size = to_text(with_sample_sizes(parse_shapes(line, "t", {}, Varying::allowed), device).at(3).problem) + "\n";
    for (const std::string& list : {size + line, line + size}) {
        const std::vector<Shape> shapes = with_sample_sizes(parse_shapes(list + "77 4096 64\n", "t", {}, Varying::allowed), device);
        CHECK(shapes.size() == 17);
        for (const Shape& shape : shapes) CHECK_MESSAGE(shape.is_sample_size == (shape.problem.k == 4096), to_text(shape.problem));
    }
}

TEST_CASE("a decision from fewer results than a sample size's search ends with does not count for one") {
    const tmm::testing::TemporaryDirectory folder;
    const DeviceInfo device = assumed_device("90");
    TuningDatabase database(folder.path() / "tmm.db", TuningDatabase::Mode::read_write_create);
    database.set_environment({.device = device, .nvrtc_version = 12090});
    const GemmProblem problem = parse_shape("225 4096 4096 ops=nt dtype=bf16").problem;
    KernelBook book;
    const auto all = make_candidates(problem, Effort::normal, device, book, kAllCandidates);
    const std::string hash = search_hash(Effort::full, make_candidates(problem, Effort::full, device, book, kAllCandidates));
    REQUIRE(all.size() > 96);
    std::size_t measured = 0;
    const auto counts_after = [&](std::size_t results, bool is_sample_size, Effort effort) {
        for (; measured < results; ++measured)
            database.record(problem, all[measured].config, {}, {.median_us = 10, .kernel_hash = all[measured].kernel_hash});
        TuningOptions options;
        options.effort = effort;
        PendingProblem open;
        open.shape.problem = problem;
        open.shape.is_sample_size = is_sample_size;
        open.earlier = TuningDatabase::Decision{.config = all.front().config, .search_hash = hash};
        prepare_candidates(open, {}, options, device, book, database);
        return reusable_result_of(database, open, options, device, book) == ReusableResult::counts;
    };
    CHECK(counts_after(40, false, Effort::normal));
    CHECK_FALSE(counts_after(40, true, Effort::normal));
    CHECK(counts_after(40, true, Effort::quick));
    CHECK(counts_after(96, true, Effort::normal));
    CHECK(counts_after(96, false, Effort::full));
    // No seconds end a full search of one.
    CHECK_FALSE(counts_after(96, true, Effort::full));
}

TEST_CASE("a config that erred nearby is not followed, and the sentence says what was measured where") {
    SimulatedLine line(kLines[0]);
    const GemmProblem tuned = line.problem(1024), asked = line.problem(1000);
    std::vector<MeasuredCandidate> candidates = line.measured(1024);
    REQUIRE(candidates.size() > 4);
    WinnerRow row = line.winner(1024);
    const auto choose = [&](const std::vector<MeasuredCandidate>& known) {
        return Winners({row}, line.device(), [&](const GemmProblem&) { return known; }).select(asked);
    };
    const Selection first = choose(candidates);
    CHECK(first.match == Match::near);
    CHECK(first.why.find("it took ") != std::string::npos);
    CHECK(first.why.find("for " + to_text(tuned)) != std::string::npos);
    // The same with its time three times as long: another one is chosen.
    for (MeasuredCandidate& candidate : candidates)
        if (candidate.config.block_m == first.config.block_m && candidate.config.block_n == first.config.block_n)
            candidate.measurement.median_us *= 3;
    const Selection second = choose(candidates);
    CHECK((second.config.block_m != first.config.block_m || second.config.block_n != first.config.block_n));
    // Without candidates, as for winners that ship with tmm, the winner itself is followed where it is predicted to be fast.
    const Selection alone = Winners({row}, line.device()).select(asked);
    CHECK(alone.why.find("it took ") == std::string::npos);
    // Rows that no search would make: no time, and configs that are not valid.
    std::vector<MeasuredCandidate> damaged = candidates;
    for (MeasuredCandidate& candidate : damaged) candidate.measurement.median_us = 0;
    damaged.push_back({.config = KernelConfig{.family = family::tiled, .block_m = 0}, .measurement = {.median_us = 1}});
    CHECK(choose(damaged).why == alone.why);
}

TEST_CASE("a handle keeps the plans of two layers at every size up to 8192") {
    // Plans are only kept here, and never looked into: places in a text stand for them.
    const std::string plans(2 * kLast, ' ');
    const auto owner = std::make_shared<int>();
    const auto plan_of = [&](int layer, std::int64_t m) {
        const char* const place = plans.data() + layer * kLast + m - 1;
        return std::shared_ptr<const RuntimePlan>(owner, reinterpret_cast<const RuntimePlan*>(place));
    };
    const auto request = [](int layer, std::int64_t m) {
        GemmProblem p;
        p.m = m;
        p.n = p.k = p.ldb = p.ldc = p.lda = 64 * (layer + 1);
        return PlanRequest{.problem = p};
    };
    PlanCache cache;
    for (const int layer : {0, 1})
        for (std::int64_t m = 1; m <= kLast; ++m) CHECK(cache.add(request(layer, m), plan_of(layer, m)) == plan_of(layer, m));
    int lost = 0;
    for (std::int64_t m = 1; m <= kLast; ++m)
        for (const int layer : {0, 1}) lost += cache.find(request(layer, m)) == plan_of(layer, m) ? 0 : 1;
    CHECK(lost == 0);
    CHECK(cache.find(request(2, 1)) == nullptr);

    // Expressions are as many as a program writes: the last ones are kept.
    const auto custom = [&](std::int64_t m, int number) {
        PlanRequest of_text = request(0, m);
        of_text.problem.epilogue = Epilogue::custom;
        of_text.expression.text = std::to_string(number);
        return of_text;
    };
    const int texts = 3 * static_cast<int>(PlanCache::kExpressions);
    for (int number = 0; number < texts; ++number) CHECK(cache.add(custom(1, number), plan_of(0, number + 1)) == plan_of(0, number + 1));
    int kept = 0;
    for (int number = 0; number < texts; ++number) kept += cache.find(custom(1, number)) != nullptr ? 1 : 0;
    CHECK(kept == static_cast<int>(PlanCache::kExpressions));
    CHECK(cache.find(custom(1, texts - 1)) == plan_of(0, texts));
    CHECK(cache.find(request(0, 1)) == plan_of(0, 1));
}
