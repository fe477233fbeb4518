// Tests which configs take part in a search whatever it offers itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "db/store/records.h"
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
