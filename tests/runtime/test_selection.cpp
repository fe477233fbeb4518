// Tests which kernel serves a problem and why: the exact winner, the nearest tuned problem, a guess, the fallback.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "db/store/records.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/text.h"
#include "runtime/select/selection.h"
#include "tests/support/selection_testing.h"

using namespace selection_testing;
using tmm::Match;

namespace {

constexpr const char* kSplit2 = "simt 32x32x8 t4x4 s2 v4 peeled split2";
constexpr const char* kTiled16Exact = "tiled 16x16x16 exact";

tmm::WinnerRow winner(const std::string& problem, const std::string& config, const std::string& origin = "user",
                      const tmm::DeviceInfo& device = tmm::host_device_info()) {
    tmm::WinnerRow row;
    row.problem = shape(problem);
    row.device = device.name;
    row.compute_capability = device.compute_capability();
    row.sm_count = device.sm_count;
    row.config = tmm::parse_config(config);
    row.median_us = 12.5;
    row.origin = origin;
    return row;
}

tmm::Selection select(const std::vector<tmm::WinnerRow>& rows, const std::string& problem, std::int64_t most_workspace = tmm::kAnyWorkspace,
                      const tmm::CandidateSource& candidates = {}) {
    return tmm::Winners(rows, tmm::host_device_info(), candidates).select(shape(problem), most_workspace);
}

std::int64_t workspace_bytes(const std::string& problem, const tmm::KernelConfig& config) {
    return tmm::make_launch_plan(shape(problem), config, tmm::host_device_info()).workspace_bytes;
}

tmm::MeasuredCandidate candidate(const std::string& config, double median_us) {
    return {.config = tmm::parse_config(config), .measurement = {.median_us = median_us}, .measured_at = 0};
}

}  // namespace

TEST_CASE("the problem's own winner is exact, whatever is near") {
    const tmm::Selection chosen = select({winner("64 64 64", kTiled8), winner("64 64 32", kTiled16)}, "64 64 64");
    CHECK(chosen.match == Match::exact);
    CHECK(chosen.config == tmm::parse_config(kTiled8));
    CHECK(chosen.why == "64x64x64 was tuned on host, and this config won (12.50 µs when tuned)");
}

TEST_CASE("an untuned problem takes the winner of the nearest tuned one") {
    const std::vector<tmm::WinnerRow> rows{winner("256 256 256", kTiled8), winner("64 64 96", kTiled16)};
    const tmm::Selection chosen = select(rows, "64 64 64");
    CHECK(chosen.match == Match::near);
    CHECK(chosen.config == tmm::parse_config(kTiled16));
    CHECK(contains(chosen.why, "64x64x64 was not tuned on host"));
    CHECK(contains(chosen.why, "0.6 doublings away, is 64x64x96"));
}

TEST_CASE("what a program raced serves its own problem and compute mode alone, behind what was searched for") {
    tmm::WinnerRow raced = winner("64 64 64", kTiled8, "raced");
    raced.library_us = 20;
    const tmm::Selection chosen = select({raced}, "64 64 64");
    CHECK(chosen.match == Match::exact);
    CHECK(chosen.measured_us == 12.5);
    CHECK(chosen.library_us == 20);
    CHECK(chosen.why == "64x64x64 was raced on host, and this config won (12.50 µs in a program whose library took 20.00 µs)");
    CHECK(select({raced}, "64 64 64 compute=tf32").match != Match::exact);
    CHECK(select({raced}, "64 64 96").match == Match::predicted);
    for (const char* origin : {"shipped", "user"}) {
        const tmm::Selection searched = select({raced, winner("64 64 64", kTiled16, origin)}, "64 64 64");
        CHECK(searched.config == tmm::parse_config(kTiled16));
        CHECK(searched.library_us == 0);
    }
}

TEST_CASE("on a GPU the nearest winner serves only where it is predicted to be fast, too") {
    const tmm::DeviceInfo hopper = tmm::assumed_device("90");
    const auto with_winner = [&](const tmm::KernelConfig& config) {
        return tmm::Winners({winner("1024 1024 1024", tmm::to_text(config), "user", hopper)}, hopper).select(shape("1000 1000 1000"));
    };
    const tmm::KernelConfig predicted = tmm::default_config(shape("1000 1000 1000"), hopper);
    CHECK(with_winner(predicted).match == Match::near);
    const tmm::Selection guess = with_winner(tmm::parse_config(kTiled8));
    CHECK(guess.match == Match::predicted);
    CHECK(guess.config == predicted);
    CHECK(contains(guess.why, "the winner of the nearest tuned problem, 1024x1024x1024, is predicted to take"));
}

TEST_CASE("where the nearest winner is predicted to be slow here, one a little farther away may serve") {
    const tmm::DeviceInfo hopper = tmm::assumed_device("90");
    const tmm::KernelConfig predicted = tmm::default_config(shape("1000 1000 1000"), hopper);
    const tmm::WinnerRow farther = winner("1100 1100 1100", tmm::to_text(predicted), "user", hopper);
    const auto behind = [&](int slow_ones) {
        std::vector<tmm::WinnerRow> rows{farther};
        for (int i = 0; i < slow_ones; ++i) rows.push_back(winner(fmt::format("{} 1000 1000", 1001 + i), kTiled8, "user", hopper));
        return tmm::Winners(rows, hopper).select(shape("1000 1000 1000"));
    };
    CHECK(behind(1).match == Match::near);
    CHECK(behind(1).config == predicted);
    CHECK(contains(behind(1).why, "is 1100x1100x1100"));
    // Only so many are looked at.
    CHECK(behind(4).match == Match::predicted);
}

TEST_CASE("candidates that can't be read are asked for once in a selection, and again in the next") {
    const tmm::DeviceInfo hopper = tmm::assumed_device("90");
    const std::string asked = "1000 1000 4000";
    const tmm::KernelConfig fast = tmm::default_config(shape(asked), hopper);
    bool is_locked = true;
    int times_asked = 0;
    const auto source = [&](const tmm::GemmProblem&) -> std::optional<std::vector<tmm::MeasuredCandidate>> {
        ++times_asked;
        if (is_locked) return std::nullopt;
        return std::vector{candidate(tmm::to_text(fast), 1)};
    };
    std::vector<tmm::WinnerRow> rows;
    for (const char* const near : {"1001 1000 4000", "1002 1000 4000", "1003 1000 4000"})
        rows.push_back(winner(near, kTiled8, "user", hopper));
    const tmm::Winners winners(rows, hopper, source);
    CHECK(winners.select(shape(asked)).match == Match::predicted);
    CHECK(times_asked == 1);
    is_locked = false;
    const std::string why = winners.select(shape(asked)).why;
    CHECK_MESSAGE(contains(why, "it took 1.000 µs for "), why);
    // What was read is remembered.
    const int before = times_asked;
    CHECK(winners.select(shape(asked)).match == Match::near);
    CHECK(times_asked == before);

    // The problem's own candidates are asked for first, where its winner needs too much workspace.
    rows.push_back(winner(asked, kSplit2, "user", hopper));
    is_locked = true;
    times_asked = 0;
    CHECK(contains(tmm::Winners(rows, hopper, source).select(shape(asked), 0).why, "more than the 0 allowed"));
    CHECK(times_asked == 1);
}

TEST_CASE("the winner of a gate's plain product serves where its kernel applies the gate, and a guess does otherwise") {
    const tmm::DeviceInfo hopper = tmm::assumed_device("90");
    const auto chosen_behind = [&](const std::string& config) {
        return tmm::Winners({winner("512 22016 4096 dtype=bf16 ops=nt", config, "user", hopper)}, hopper)
            .select(shape("512 11008 4096 dtype=bf16 ops=nt epilogue=swiglu"));
    };
    const tmm::Selection same = chosen_behind("wgmma 128x192x64 w2 s4");
    CHECK(same.match == Match::near);
    CHECK(same.config == tmm::parse_config("wgmma 128x192x64 w2 s4"));
    // Half of 104 columns is no multiple of 8.
    const tmm::Selection other = chosen_behind("wgmma 256x104x64 w2 s4");
    CHECK(other.match == Match::predicted);
    const tmm::GemmProblem gated = shape("512 11008 4096 dtype=bf16 ops=nt epilogue=swiglu");
    CHECK(tmm::make_launch_plan(gated, other.config, hopper).steps.size() == 1);
    CHECK(tmm::make_launch_plan(gated, tmm::parse_config("wgmma 256x104x64 w2 s4"), hopper).steps.size() == 2);
}

TEST_CASE("a gate of rows is served by what won for its plain product or for the gate of columns, where the kernel applies it") {
    const tmm::DeviceInfo hopper = tmm::assumed_device("90");
    const tmm::GemmProblem gated = shape("11008 512 4096 dtype=bf16 ops=nt epilogue=swiglu_rows");
    const auto chosen_behind = [&](const char* tuned, const char* config) {
        return tmm::Winners({winner(tuned, config, "user", hopper)}, hopper).select(gated);
    };
    // A warpgroup of the first has 128 rows of A, 64 for each half.
    constexpr const char* kApplies = "wgmma 256x128x64 w2 s4";
    constexpr const char* kLeaves = "wgmma 128x128x64 w2 s4";
    CHECK(tmm::make_launch_plan(gated, tmm::parse_config(kApplies), hopper).steps.size() == 1);
    CHECK(tmm::make_launch_plan(gated, tmm::parse_config(kLeaves), hopper).steps.size() == 2);
    for (const char* tuned : {"22016 512 4096 dtype=bf16 ops=nt", "22016 256 4096 dtype=bf16 ops=nt epilogue=swiglu"}) {
        CAPTURE(std::string(tuned));
        CHECK(chosen_behind(tuned, kApplies).match == Match::near);
        CHECK(chosen_behind(tuned, kApplies).config == tmm::parse_config(kApplies));
        CHECK(chosen_behind(tuned, kLeaves).match == Match::predicted);
    }
    CHECK(tmm::make_launch_plan(gated, chosen_behind("64 64 64", kApplies).config, hopper).steps.size() == 1);
}

TEST_CASE("the winner of an FP32 gate's plain product serves, since a step applies the gate in any case") {
    const tmm::DeviceInfo hopper = tmm::assumed_device("90");
    // The model has faster configs for it, none of which was measured.
    constexpr const char* kWinner = "simt 64x64x16 t4x4 s2 v4 peeled";
    for (const auto& [plain, gated] :
         {std::pair{"512 22016 4096 ops=nt", "512 11008 4096 ops=nt epilogue=swiglu"},
          std::pair{"22016 512 4096 ops=nt", "11008 512 4096 ops=nt epilogue=swiglu_rows"},
          std::pair{"512 22016 4096 ops=nt", "512 11008 4096 ops=nt epilogue=bias+swiglu+residual"},
          std::pair{"512 22016 4096 ops=nt compute=f32_strict", "512 11008 4096 ops=nt compute=f32_strict epilogue=swiglu"}}) {
        CAPTURE(std::string(gated));
        const tmm::Selection chosen = tmm::Winners({winner(plain, kWinner, "user", hopper)}, hopper).select(shape(gated));
        CHECK(chosen.match == Match::near);
        CHECK(chosen.config == tmm::parse_config(kWinner));
        CHECK(contains(chosen.why, "the nearest tuned problem, 0.0 doublings away, is " + tmm::to_text(shape(plain))));
    }
}

TEST_CASE("near asks for the same operands and a config that is valid for the shape") {
    // A transposed problem's winner says nothing about this one.
    CHECK(select({winner("64 64 64 ops=nt", kTiled16)}, "64 64 64").match == Match::predicted);
    // 60 is no multiple of 16, so the nearer config can't serve.
    const tmm::Selection chosen = select({winner("64 64 64", kTiled16Exact), winner("64 64 96", kTiled8)}, "60 60 60");
    CHECK(chosen.match == Match::near);
    CHECK(chosen.config == tmm::parse_config(kTiled8));
    // 128x128x128 is exactly three doublings away, 128x128x256 is four.
    CHECK(select({winner("128 128 128", kTiled16)}, "64 64 64").match == Match::near);
    CHECK(select({winner("128 128 256", kTiled16)}, "64 64 64").match == Match::predicted);
}

TEST_CASE("a near winner whose tiles divide its own sizes looks for the edges of others") {
    const std::string exact = "simt 32x32x8 t4x4 s2 v4 exact o2";
    const tmm::Selection divided = select({winner("64 64 64", exact)}, "96 64 64");
    CHECK(divided.match == Match::near);
    CHECK(divided.config == tmm::parse_config(exact));
    for (const char* cut : {"60 64 64", "64 60 64", "64 64 60"}) {
        CAPTURE(cut);
        const tmm::Selection chosen = select({winner("64 64 64", exact)}, cut);
        CHECK(chosen.match == Match::near);
        CHECK(chosen.config.boundary == tmm::boundary::peeled);
        CHECK_FALSE(tmm::why_invalid(shape(cut), chosen.config, tmm::host_device_info()));
    }
}

TEST_CASE("a near winner of wgmma brings edge tiles as the problem's sizes want it, or as it won where they want the same") {
    const tmm::DeviceInfo hopper = tmm::assumed_device("90");
    const std::string tile = "family=wgmma,block_m=64,block_n=128,block_k=64,stages=8,vector_width=8,overlap=1,boundary=";
    const auto chosen = [&](const std::string& mode, const std::string& tuned, const std::string& asked, const char* damage = "") {
        tmm::WinnerRow row = winner(tuned, tile + mode, "user", hopper);
        if (*damage) row.config.block_m = 0;
        return tmm::Winners({row}, hopper, {}).select(shape(asked), tmm::kAnyWorkspace);
    };
    const std::string whole = "1024 1024 1024 dtype=bf16 ops=nt";
    const std::string cut = "1000 1024 1024 dtype=bf16 ops=nt";
    const tmm::Selection peeled = chosen("hardware", whole, cut);
    REQUIRE(peeled.match == Match::near);
    CHECK(peeled.config.boundary == tmm::boundary::peeled);
    const tmm::Selection inner = chosen("peeled", cut, whole);
    REQUIRE(inner.match == Match::near);
    CHECK(inner.config.boundary == tmm::boundary::hardware);
    const tmm::Selection as_it_won = chosen("hardware", cut, "1008 1024 1024 dtype=bf16 ops=nt");
    REQUIRE(as_it_won.match == Match::near);
    CHECK(as_it_won.config.boundary == tmm::boundary::hardware);
    CHECK(chosen("hardware", whole, cut, "block_m").match == Match::predicted);
}

TEST_CASE("a difference in beta, batch or alignment is near, but less so than a little in the sizes") {
    const std::vector<tmm::WinnerRow> rows{winner("64 64 64", kTiled8), winner("64 64 80 beta=1", kTiled16)};
    CHECK(select({rows[0]}, "64 64 64 beta=1").match == Match::near);
    const tmm::Selection chosen = select(rows, "64 64 64 beta=1");
    CHECK(chosen.match == Match::near);
    CHECK(chosen.config == tmm::parse_config(kTiled16));
}

TEST_CASE("a device of which nothing is known is not asked") {
    for (int difference = 0; difference < 3; ++difference) {
        tmm::WinnerRow row = winner("64 64 64", kTiled16);
        if (difference == 0) row.device = "NVIDIA H200";
        if (difference == 1) row.compute_capability += 10;
        if (difference == 2) row.sm_count += 1;
        CHECK(select({row}, "64 64 64").match == Match::predicted);
    }
}

TEST_CASE("compute modes: f32 and f32_strict serve each other on CUDA cores, their own winner first") {
    const tmm::WinnerRow plain = winner("64 64 64", kTiled8);
    const tmm::WinnerRow strict = winner("64 64 64 compute=f32_strict", kTiled16);
    CHECK(tmm::to_text(select({plain, strict}, "64 64 64").config) == kTiled8);
    CHECK(tmm::to_text(select({strict, plain}, "64 64 64 compute=f32_strict").config) == kTiled16);
    // Another mode's is taken where it is faster, not in a tie of two searches, whichever comes first.
    tmm::WinnerRow other = plain;
    other.median_us = 0.995 * strict.median_us;
    CHECK(tmm::to_text(select({other, strict}, "64 64 64 compute=f32_strict").config) == kTiled16);
    other.median_us = 0.95 * strict.median_us;
    CHECK(tmm::to_text(select({strict, other}, "64 64 64 compute=f32_strict").config) == kTiled8);
    const tmm::Selection served = select({strict}, "64 64 64");
    CHECK(served.match == Match::exact);
    CHECK(contains(served.why, "tuned as compute=f32_strict"));
    CHECK(select({plain}, "64 64 64 compute=f32_strict").match == Match::exact);
    CHECK_FALSE(tmm::keeps_promise(tmm::ComputeMode::f32, tmm::ComputeMode::tf32, plain.config));
    CHECK_FALSE(tmm::keeps_promise(tmm::ComputeMode::f32_strict, tmm::ComputeMode::tf32, plain.config));
}

TEST_CASE(
    "compute modes: what ships for the mode that was asked for is not lost to the user's winner of another mode, unless that is faster") {
    tmm::WinnerRow shipped = winner("64 64 64", kTiled8);
    shipped.origin = "shipped";
    tmm::WinnerRow strict = winner("64 64 64 compute=f32_strict", kTiled16);
    strict.median_us = 3 * shipped.median_us;
    CHECK(tmm::to_text(select({strict, shipped}, "64 64 64").config) == kTiled8);
    CHECK(tmm::to_text(select({strict, shipped}, "64 64 64 compute=f32_strict").config) == kTiled16);
    strict.median_us = 0.5 * shipped.median_us;
    CHECK(tmm::to_text(select({strict, shipped}, "64 64 64").config) == kTiled16);
    // The user's own winner of the mode stands, however fast another mode's was elsewhere.
    tmm::WinnerRow own = winner("64 64 64", kTiled16);
    own.median_us = 2 * shipped.median_us;
    tmm::WinnerRow shipped_strict = shipped;
    shipped_strict.problem.compute = tmm::ComputeMode::f32_strict;
    CHECK(tmm::to_text(select({own, shipped, shipped_strict}, "64 64 64").config) == kTiled16);
}

TEST_CASE("compute modes: FP32 serves tf32 where no tensor core does, and not the other way round") {
    const tmm::WinnerRow plain = winner("64 64 64", kTiled8);
    tmm::WinnerRow rounded = winner("64 64 64 compute=tf32", kTiled16);
    rounded.median_us = 12;
    CHECK(tmm::to_text(select({plain, rounded}, "64 64 64 compute=tf32").config) == kTiled16);
    const tmm::Selection served = select({plain}, "64 64 64 compute=tf32");
    CHECK(served.match == Match::exact);
    CHECK(contains(served.why, "tuned as compute=f32"));
    CHECK(select({winner("64 64 64 compute=f32_strict", kTiled8)}, "64 64 80 compute=tf32").match == Match::near);
    CHECK(select({rounded}, "64 64 64").match == Match::predicted);
    // A GPU whose tensor cores multiply TF32.
    const tmm::DeviceInfo hopper = tmm::assumed_device("90");
    const auto there = [&](tmm::WinnerRow row) {
        row.device = hopper.name;
        row.compute_capability = hopper.compute_capability();
        row.sm_count = hopper.sm_count;
        return tmm::Winners({row}, hopper).select(shape("64 64 64 compute=tf32"));
    };
    CHECK(there(rounded).match == Match::exact);
    CHECK(there(plain).match == Match::predicted);
    CHECK(there(plain).config.family == tmm::family::wgmma);
}

TEST_CASE("shipped winners of one device are those of all devices that are its own") {
    std::size_t of_one = 0;
    for (const char* device : {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}) {
        std::vector<tmm::WinnerRow> expected;
        for (const tmm::WinnerRow& row : tmm::shipped_winners())
            if (row.device == device) expected.push_back(row);
        const std::vector<tmm::WinnerRow> own = tmm::shipped_winners(device);
        REQUIRE(own.size() == expected.size());
        for (std::size_t i = 0; i < own.size(); ++i) {
            CHECK(own[i].problem == expected[i].problem);
            CHECK(own[i].config == expected[i].config);
            CHECK(own[i].median_us == expected[i].median_us);
            CHECK(own[i].device == device);
        }
        of_one += own.size();
    }
    CHECK(of_one == tmm::shipped_winners().size());
    CHECK(tmm::shipped_winners("NVIDIA H").empty());
    CHECK(tmm::shipped_winners("").empty());
    CHECK(tmm::shipped_winners_beside("NVIDIA H200", 90).size() == tmm::shipped_winners("NVIDIA H100 80GB HBM3").size());
    CHECK(tmm::shipped_winners_beside("NVIDIA GH200 480GB", 90).size() == of_one);
    CHECK(tmm::shipped_winners_beside("NVIDIA H200", 9).empty());
}

TEST_CASE("every winner that ships with tmm serves its problem on its GPU, and GPUs of other architectures have none of them") {
    const tmm::DeviceInfo h200 = tmm::assumed_device("90");
    REQUIRE(tmm::shipped_winners().size() > 100);
    const tmm::Winners winners(tmm::shipped_winners(), h200);
    for (const tmm::WinnerRow& row : tmm::shipped_winners()) {
        if (row.device != h200.name) continue;
        CAPTURE(tmm::to_text(row.problem));
        const tmm::Selection chosen = winners.select(row.problem);
        CHECK(chosen.match == Match::exact);
        CHECK(contains(chosen.why, "µs when tuned; it ships with tmm"));
        CHECK(!tmm::rejection_reason(row.problem, chosen.config, h200));
    }
    CHECK(tmm::Winners(tmm::shipped_winners(), tmm::assumed_device("89")).select(shape("1024 1024 1024")).match == Match::predicted);
}

TEST_CASE("a user's row goes before a shipped one") {
    const std::vector<tmm::WinnerRow> rows{winner("64 64 64", kTiled8, "shipped"), winner("64 64 64", kTiled16, "user")};
    CHECK(tmm::to_text(select(rows, "64 64 64").config) == kTiled16);
    CHECK(tmm::to_text(select({winner("64 64 96", kTiled8, "shipped"), winner("64 64 96", kTiled16)}, "64 64 64").config) == kTiled16);
}

TEST_CASE("an exact winner that can't serve its problem is passed over, and the sentence says so") {
    const tmm::Selection chosen = select({winner("60 60 60", kTiled16Exact)}, "60 60 60");
    CHECK(chosen.match == Match::predicted);
    CHECK(contains(chosen.why, "its winner in the database is not valid"));
}

TEST_CASE("an exact winner that fits the bound on workspace is taken, and no candidate is asked for") {
    const auto refuse = [](const tmm::GemmProblem&) -> std::vector<tmm::MeasuredCandidate> { throw std::logic_error("asked"); };
    const std::int64_t needed = workspace_bytes("40 36 200", tmm::parse_config(kSplit3));
    REQUIRE(needed >= 3 * 40 * 36 * 4);
    const std::vector<tmm::WinnerRow> rows{winner("40 36 200", kSplit3)};
    const tmm::Selection chosen = select(rows, "40 36 200", needed, refuse);
    CHECK(chosen.config == tmm::parse_config(kSplit3));
    CHECK(chosen.why == select(rows, "40 36 200").why);
    CHECK(select({winner("40 36 200", kTiled16)}, "40 36 200", 0, refuse).match == Match::exact);
    // A problem that has no winner is not looked for among the candidates either.
    CHECK(select(rows, "40 36 208", 0, refuse).match == Match::predicted);
}

TEST_CASE("where an exact winner needs too much workspace, the fastest measured candidate within the bound serves") {
    const std::string problem = "40 36 200";
    const std::int64_t needed = workspace_bytes(problem, tmm::parse_config(kSplit3));
    const auto candidates = [](const tmm::GemmProblem&) {
        // 16 divides no size here; the second and third need workspace.
        return std::vector{candidate(kTiled16Exact, 10), candidate(kSplit3, 12), candidate(kSplit2, 13), candidate(kTiled8, 20),
                           candidate(kTiled16, 30)};
    };
    const std::vector<tmm::WinnerRow> rows{winner(problem, kSplit3), winner("40 36 190", kTiled16)};
    const tmm::Selection chosen = select(rows, problem, 0, candidates);
    CHECK(chosen.match == Match::exact);
    CHECK(chosen.config == tmm::parse_config(kTiled8));
    CHECK(chosen.why ==
          "40x36x200 was tuned on host, but its winner (" + std::string(kSplit3) + ") needs " + std::to_string(needed) +
              " bytes of workspace, more than the 0 allowed, and this config is the fastest measured one within them (20.00 µs "
              "when tuned)");
    CHECK(tmm::to_text(select(rows, problem, needed - 1, candidates).config) == kSplit2);
}

TEST_CASE("candidates are looked up as the database spells the problem, and keep its compute mode's promise") {
    std::vector<tmm::GemmProblem> asked;
    const auto candidates = [&asked](const tmm::GemmProblem& tuned) {
        asked.push_back(tuned);
        return std::vector{candidate(kTiled8, 20)};
    };
    // With odd leading dimensions a promise of 4 bytes is as good as one of 16, so that both spell one problem.
    const std::string odd = "40 37 201 align=4";
    const char* const narrow = "simt 32x32x8 t4x4 s2 peeled split3";
    CHECK(tmm::to_text(select({winner(odd, narrow)}, "40 37 201", 0, candidates).config) == kTiled8);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0] == shape(odd));
    CHECK(select({winner("40 36 200", kSplit3)}, "40 36 200 compute=f32_strict", 0, candidates).match == Match::exact);
    CHECK(asked.size() == 2);
}

TEST_CASE("without a candidate within the bound another mode's winner serves, else a near one that fits, else a guess that fits") {
    const std::string problem = "40 36 200";
    const auto too_large = [](const tmm::GemmProblem&) { return std::vector{candidate(kSplit3, 12), candidate(kSplit2, 13)}; };
    std::vector<tmm::WinnerRow> rows{winner(problem, kSplit3), winner("40 36 199", kSplit2), winner("40 36 300", kTiled16)};
    const tmm::Selection near = select(rows, problem, 100, too_large);
    CHECK(near.match == Match::near);
    CHECK(near.config == tmm::parse_config(kTiled16));
    CHECK(contains(near.why, "40x36x200 was tuned on host, but its winner (" + std::string(kSplit3) + ") needs "));
    CHECK(contains(near.why, "is 40x36x300, and its winner is valid here within 100 bytes of workspace"));

    rows.push_back(winner(problem + " compute=f32_strict", kTiled8));
    const tmm::Selection strict = select(rows, problem, 100);
    CHECK(strict.match == Match::exact);
    CHECK(strict.config == tmm::parse_config(kTiled8));
    CHECK(contains(strict.why, "this config won within them, tuned as compute=f32_strict"));

    const tmm::Selection guess = select({rows[0], rows[1]}, problem, 100, too_large);
    CHECK(guess.match == Match::predicted);
    CHECK(workspace_bytes(problem, guess.config) <= 100);
    CHECK(contains(guess.why, "was tuned on host within 100 bytes of workspace, so the config is a guess from its shape; its winner ("));
}

TEST_CASE("what is chosen for a problem that was never tuned keeps the bound") {
    for (const char* text : {"16 16 65536", "1 4096 4096 ops=nt", "64 64 10000", "1000 1000 1000 align=4", "64 64 64 dtype=bf16",
                             "100 100 4000 dtype=f16 align=2"}) {
        for (const std::int64_t most : {std::int64_t{0}, std::int64_t{5000}, std::int64_t{1} << 20}) {
            CAPTURE(text);
            CAPTURE(most);
            CHECK(workspace_bytes(text, select({}, text, most).config) <= most);
        }
    }
}

TEST_CASE("nothing to multiply takes the fallback") {
    for (const auto member : {&tmm::GemmProblem::m, &tmm::GemmProblem::n, &tmm::GemmProblem::k, &tmm::GemmProblem::batch}) {
        tmm::GemmProblem problem = shape("64 64 64");
        problem.*member = 0;
        const tmm::Selection chosen = tmm::Winners({winner("64 64 64", kTiled16)}, tmm::host_device_info()).select(problem);
        CHECK(chosen.match == Match::fallback);
        CHECK(chosen.why != "");
    }
}

TEST_CASE("predicted and fallback configs are valid for every problem") {
    const tmm::DeviceInfo device = tmm::host_device_info();
    for (const char* text : {"1 1 1", "3 3 3", "1 4096 4096 ops=nt", "4096 1 333", "7 9 100000", "1000 1000 1000 align=4",
                             "65 33 129 ops=tn lda=72 ldc=40", "64 64 64 batch=1000 beta=1"}) {
        CAPTURE(text);
        const tmm::Selection chosen = select({}, text);
        CHECK(chosen.match == Match::predicted);
        CHECK_FALSE(tmm::why_invalid(shape(text), chosen.config, device));
        CHECK_FALSE(tmm::why_invalid(shape(text), tmm::fallback_config(), device));
        CHECK(contains(chosen.why, tmm::to_text(shape(text))));
    }
}
