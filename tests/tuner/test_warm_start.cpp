// Tests which configs take part in a search whatever it offers itself, and which of them a quick search takes where there are times of
// them.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tuner/search/warm_start.h"

using namespace tmm;

namespace {

MeasuredCandidate row(const char* config, double median_us, Outcome outcome = Outcome::ok) {
    MeasuredCandidate measured;
    measured.config = parse_config(config);
    measured.measurement.outcome = outcome;
    measured.measurement.median_us = median_us;
    return measured;
}

constexpr const char* kNaive = "family=naive,block_m=8,block_n=32";
constexpr const char* kNarrow = "family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,vector_width=4";
constexpr const char* kWide = "family=simt,block_m=32,block_n=64,block_k=8,thread_m=4,thread_n=4,vector_width=4";
// This config serves f32, but not f32_strict.
constexpr const char* kPlanes =
    "family=wgmma,block_m=128,block_n=64,block_k=64,stages=2,vector_width=8,boundary=hardware,warps_m=2,planes=2,promote_k=64";

KernelConfig config(int block_m) {
    return {.family = family::simt, .block_m = block_m};
}
Candidate candidate(int block_m) {
    Candidate made;
    made.config = config(block_m);
    made.kernel_hash = "today";
    return made;
}
MeasuredCandidate row(int block_m, double median_us, const char* hash = "earlier", Outcome outcome = Outcome::ok) {
    MeasuredCandidate made;
    made.config = config(block_m);
    made.measurement.outcome = outcome;
    made.measurement.median_us = median_us;
    made.measurement.kernel_hash = hash;
    return made;
}

const std::vector<Candidate> kCandidates{candidate(1), candidate(2), candidate(3), candidate(4), candidate(5), candidate(6)};

// The block_m of the candidates that are chosen from kCandidates, where the first `count` are predicted to be fast.
std::vector<int> chosen(const std::vector<MeasuredCandidate>& rows, std::ptrdiff_t count) {
    const std::vector<Candidate> predicted(kCandidates.begin(), kCandidates.begin() + count);
    std::vector<int> blocks;
    for (const Candidate& one : fastest_measured(predicted, kCandidates, rows)) blocks.push_back(one.config.block_m);
    return blocks;
}
using List = std::vector<int>;

}  // namespace

TEST_CASE("the fastest that passed are remembered, the fastest first, where they serve the problem") {
    const DeviceInfo device = assumed_device("sm_90a");
    const GemmProblem problem = parse_shape("517x519x521 compute=f32_strict").problem;
    const std::vector<MeasuredCandidate> rows{row(kNaive, 90), row(kNarrow, 30), row(kPlanes, 10), row(kWide, 5, Outcome::wrong_result),
                                              row(kWide, 20)};
    CHECK(warm_start_configs(problem, {}, rows, device) == std::vector{parse_config(kNarrow), parse_config(kNaive)});
    CHECK(warm_start_configs(parse_shape("517x519x521").problem, {}, rows, device).front() == parse_config(kPlanes));
}

TEST_CASE("what won before comes first, once, whatever its time was") {
    const DeviceInfo device = assumed_device("sm_90a");
    const GemmProblem problem = parse_shape("517x519x521 compute=f32_strict").problem;
    const std::vector<MeasuredCandidate> rows{row(kNaive, 90), row(kNarrow, 30), row(kWide, 20)};
    const std::vector<KernelConfig> winners{parse_config(kNarrow), parse_config(kPlanes), parse_config(kNarrow)};
    CHECK(warm_start_configs(problem, winners, rows, device) ==
          std::vector{parse_config(kNarrow), parse_config(kWide), parse_config(kNaive)});
}

TEST_CASE("with 16 bits the winner that ships for the other type is remembered as well") {
    const DeviceInfo device = assumed_device("sm_90a");
    int tried = 0;
    for (const WinnerRow& winner : shipped_winners()) {
        if (winner.problem.type_a != ElementType::bf16) continue;
        ++tried;
        REQUIRE(problems_alike(winner.problem).size() == 2);
        const GemmProblem other = problems_alike(winner.problem).back();
        CAPTURE(to_text(other));
        CHECK(other.type_a == ElementType::f16);
        CHECK(other.op_b == winner.problem.op_b);
        const std::vector<KernelConfig> configs = warm_start_configs(other, {}, {}, device);
        CHECK(std::find(configs.begin(), configs.end(), winner.config) != configs.end());
    }
    CHECK(tried > 0);
    const GemmProblem floats = parse_shape("517x519x521").problem;
    CHECK(problems_alike(floats) == std::vector{floats});
}

TEST_CASE("a shipped winner is remembered on its device and on others of its compute capability, once") {
    const WinnerRow& shipped = shipped_winners().front();
    DeviceInfo device = assumed_device("sm_90a");
    REQUIRE(shipped.device == device.name);
    const std::vector<KernelConfig> configs = warm_start_configs(shipped.problem, {}, {}, device);
    CHECK(configs.front() == shipped.config);
    CHECK(std::count(configs.begin(), configs.end(), shipped.config) == 1);
    MeasuredCandidate known;
    known.config = shipped.config;
    known.measurement.outcome = Outcome::ok;
    known.measurement.median_us = 3;
    CHECK(warm_start_configs(shipped.problem, {}, {known}, device) == configs);
    device.name = "another";
    const std::vector<KernelConfig> on_another = warm_start_configs(shipped.problem, {}, {}, device);
    CHECK(std::find(on_another.begin(), on_another.end(), shipped.config) != on_another.end());
    device = assumed_device("80");
    CHECK(warm_start_configs(shipped.problem, {}, {}, device).empty());
}

TEST_CASE("every shipped winner may serve its problem on its device") {
    const DeviceInfo device = assumed_device("sm_90a");
    for (const WinnerRow& winner : shipped_winners()) {
        CAPTURE(to_text(winner.problem));
        CHECK(!rejection_reason(winner.problem, winner.config, device));
    }
}

TEST_CASE("the default config and the fastest are taken, in the candidates' order") {
    CHECK(chosen({row(2, 30), row(3, 10), row(5, 20), row(6, 5), row(1, 99)}, 3) == List{1, 3, 6});
    CHECK(chosen({row(2, 30), row(3, 10)}, 6) == List{1, 2, 3, 4, 5, 6});
}

TEST_CASE("where too few have a time, the foremost others follow") {
    CHECK(chosen({row(6, 5)}, 3) == List{1, 2, 6});
    CHECK(chosen({row(6, 5, "earlier", Outcome::crashed), row(9, 1)}, 3) == List{1, 2, 3});
}

TEST_CASE("what today's kernels take changes nothing where an earlier text of them was measured") {
    const std::vector<MeasuredCandidate> earlier{row(4, 10), row(5, 20), row(6, 30)};
    CHECK(chosen(earlier, 3) == List{1, 4, 5});
    std::vector<MeasuredCandidate> later{row(4, 50, "today"), row(5, 60, "today")};
    later.insert(later.end(), earlier.begin(), earlier.end());
    CHECK(chosen(later, 3) == List{1, 4, 5});
    // Rows come newest first: the newest earlier text counts.
    CHECK(chosen({row(6, 1, "before"), row(4, 10), row(5, 20), row(6, 30)}, 3) == List{1, 4, 6});
}

TEST_CASE("a config's times are taken for those with the other overlap, where it has none of its own") {
    std::vector<Candidate> all = kCandidates;
    for (Candidate& one : all) one.config.overlap = 1;
    const auto overlapping = [&](const std::vector<MeasuredCandidate>& rows) {
        std::vector<Candidate> both = kCandidates;
        both.insert(both.end(), all.begin(), all.end());
        List blocks;
        for (const Candidate& one : fastest_measured({all.begin(), all.begin() + 3}, both, rows))
            blocks.push_back(one.config.overlap != 0 ? one.config.block_m : -one.config.block_m);
        return blocks;
    };
    CHECK(overlapping({row(4, 10), row(5, 20)}) == List{1, -4, 4});
    std::vector<MeasuredCandidate> rows{row(4, 10), row(5, 20), row(4, 30)};
    rows.back().config.overlap = 1;
    CHECK(overlapping(rows) == List{1, -4, -5});
}

TEST_CASE("or those of the best other order of its products") {
    std::vector<Candidate> candidates = kCandidates;
    for (Candidate& one : candidates) one.config.fma_order = fma_order::one_row;
    std::vector<MeasuredCandidate> rows{row(4, 10), row(5, 20), row(6, 15), row(5, 9), row(3, 12)};
    rows[3].config.fma_order = fma_order::four_columns;
    rows[4].config.fma_order = fma_order::one_row;
    List blocks;
    for (const Candidate& one : fastest_measured({candidates.begin(), candidates.begin() + 3}, candidates, rows))
        blocks.push_back(one.config.block_m);
    CHECK(blocks == List{1, 4, 5});
}

TEST_CASE("of each config the newest row counts, if it passed, and the fastest comes first") {
    const auto verified = [](const std::vector<MeasuredCandidate>& rows) {
        List blocks;
        for (const MeasuredCandidate& one : verified_times(rows)) blocks.push_back(one.config.block_m);
        return blocks;
    };
    CHECK(verified({row(7, 30), row(8, 10), row(9, 20)}) == List{8, 9, 7});
    CHECK(verified({row(7, 40), row(8, 10, "today", Outcome::crashed), row(7, 1), row(8, 1), row(9, 20)}) == List{9, 7});
    CHECK(verified({}).empty());
}
