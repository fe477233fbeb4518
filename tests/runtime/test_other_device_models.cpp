// Tests where winners of other GPUs of the same architecture serve: how much is lost by them, beside a guess, is known of two cards.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "db/store/records.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/text.h"
#include "runtime/select/other_device_models.h"
#include "runtime/select/selection.h"
#include "tests/support/replay.h"
#include "tests/support/selection_testing.h"

using namespace selection_testing;
using tmm::DeviceInfo;
using tmm::Match;
using tmm::Selection;
using tmm::WinnerRow;
using tmm::Winners;

namespace {

constexpr const char* kH100 = "NVIDIA H100 80GB HBM3";

DeviceInfo hopper(const std::string& name, int sm_count = 132) {
    DeviceInfo device = tmm::assumed_device("90");
    device.name = name;
    device.sm_count = sm_count;
    device.profile = tmm::profile_of(device);
    return device;
}

WinnerRow row(const DeviceInfo& card, const std::string& problem, const std::string& config) {
    return {.problem = shape(problem),
            .device = card.name,
            .compute_capability = card.compute_capability(),
            .sm_count = card.sm_count,
            .config = tmm::parse_config(config),
            .median_us = 12.5,
            .origin = "shipped"};
}

// 132 tiles.
constexpr const char* kProblem = "1408 1536 4096 dtype=bf16";
constexpr const char* kWinner = "wgmma 128x128x64 w2 s6 overlap";
constexpr const char* kOther = "wgmma 128x192x64 w2 s4 overlap";

double fastest_of(const tmm::bench::RecordedProblem& problem) {
    double fastest = 0;
    for (const auto& [config, time] : problem.times)
        if (time.alone_us > 0 && (fastest == 0 || time.alone_us < fastest)) fastest = time.alone_us;
    return fastest;
}

// How fast a config was, beside the fastest that was recorded; 0 where it was not recorded.
double part_of_fastest(const tmm::bench::RecordedProblem& problem, const tmm::KernelConfig& config) {
    const auto found = problem.times.find(tmm::fields_text(config));
    return found == problem.times.end() || found->second.alone_us <= 0 ? 0 : fastest_of(problem) / found->second.alone_us;
}

}  // namespace

TEST_CASE("a winner of another card of the architecture serves a problem that was not tuned here, and the sentence says whose it is") {
    const DeviceInfo h200 = hopper("NVIDIA H200");
    const Selection chosen = Winners({row(hopper(kH100), kProblem, kWinner)}, h200).select(shape(kProblem));
    CHECK(chosen.match == Match::near);
    CHECK(chosen.config == tmm::parse_config(kWinner));
    CHECK(chosen.measured_us == 0);
    CHECK(contains(chosen.why, "was not tuned on NVIDIA H200"));
    CHECK(contains(chosen.why, std::string("on ") + kH100 + ", a GPU of the same architecture"));
    // With another epilogue it is the same product.
    const Selection behind = Winners({row(hopper(kH100), kProblem, kWinner)}, h200).select(shape(std::string(kProblem) + " epilogue=silu"));
    CHECK(behind.config == tmm::parse_config(kWinner));
}

TEST_CASE("the device's own winner of the product, with any epilogue, goes before another card's") {
    const DeviceInfo h200 = hopper("NVIDIA H200");
    const WinnerRow other = row(hopper(kH100), kProblem, kOther);
    const Selection exact = Winners({other, row(h200, kProblem, kWinner)}, h200).select(shape(kProblem));
    CHECK(exact.match == Match::exact);
    CHECK(exact.config == tmm::parse_config(kWinner));
    const Selection same = Winners({other, row(h200, std::string(kProblem) + " epilogue=relu", kWinner)}, h200).select(shape(kProblem));
    CHECK(same.config == tmm::parse_config(kWinner));
    CHECK_FALSE(contains(same.why, kH100));
}

TEST_CASE("another card's winner of the product goes before the device's own of a near one") {
    const DeviceInfo h200 = hopper("NVIDIA H200");
    const WinnerRow near = row(h200, "1408 1536 4000 dtype=bf16", kOther);
    const Selection chosen = Winners({near, row(hopper(kH100), kProblem, kWinner)}, h200).select(shape(kProblem));
    CHECK(chosen.config == tmm::parse_config(kWinner));
}

TEST_CASE("what filled another card's SMs evenly is not followed where it leaves those of this one idle") {
    for (const int sm_count : {132, 131, 114}) {
        CAPTURE(sm_count);
        const DeviceInfo device = hopper("NVIDIA H800 of another make", sm_count);
        const Selection chosen = Winners({row(hopper(kH100), kProblem, kWinner)}, device).select(shape(kProblem));
        CHECK((chosen.match == Match::near) == (sm_count == 132));
    }
}

TEST_CASE("cards of other architectures are not asked, nor is one for a problem that its winner is not valid for") {
    const DeviceInfo h200 = hopper("NVIDIA H200");
    DeviceInfo b200 = tmm::assumed_device("100");
    CHECK(Winners({row(b200, kProblem, kWinner)}, h200).select(shape(kProblem)).match == Match::predicted);
    CHECK(Winners({row(hopper(kH100), kProblem, kWinner)}, b200).select(shape(kProblem)).match == Match::predicted);
    const Selection invalid = Winners({row(hopper(kH100), kProblem, "wgmma 128x256x64 w2 s64")}, h200).select(shape(kProblem));
    CHECK(invalid.match == Match::predicted);
}

TEST_CASE("the emulated device is no other card of a GPU with its compute capability, nor is that one of the emulated device's") {
    const DeviceInfo gpu = tmm::assumed_device("80");
    const DeviceInfo emulated = tmm::host_device_info();
    REQUIRE(gpu.compute_capability() == emulated.compute_capability());
    constexpr const char* size = "1024 1024 1024";
    // It is slow on both, so that it would carry over.
    const std::string slow = "tiled 16x16x16";
    REQUIRE(tmm::slower_than_on(emulated, shape(size), tmm::parse_config(slow), tmm::default_config(shape(size), gpu), gpu) < 1.3);
    CHECK(Winners({row(emulated, size, slow)}, gpu).select(shape(size)).match == Match::predicted);
    CHECK(Winners({row(gpu, size, slow)}, emulated).select(shape(size)).match == Match::predicted);
    CHECK(Winners({row(emulated, size, slow)}, emulated).select(shape(size)).match == Match::exact);
}

TEST_CASE("a card of whatever number of SMs a database names does no harm") {
    const DeviceInfo h200 = hopper("NVIDIA H200");
    for (const int sm_count : {-1, 0, 1, 1 << 30}) {
        CAPTURE(sm_count);
        for (const char* config : {kWinner, "simt 64x64x8 t8x8 s3 async v4 peeled o4", "gemv 1x32x256 t1x8 s4 v8 exact"}) {
            const Selection chosen = Winners({row(hopper("NVIDIA H100", sm_count), kProblem, config)}, h200).select(shape(kProblem));
            CHECK(!tmm::why_invalid(shape(kProblem), chosen.config, h200));
            if (sm_count <= 0) CHECK(chosen.match == Match::predicted);
        }
    }
}

TEST_CASE("a workspace limit holds for another card's winner, too") {
    const DeviceInfo h200 = hopper("NVIDIA H200");
    const Winners winners({row(hopper(kH100), "256 256 65536 dtype=bf16", "wgmma 128x128x64 w2 s6 split32 overlap")}, h200);
    CHECK(winners.select(shape("256 256 65536 dtype=bf16")).match == Match::near);
    CHECK(winners.select(shape("256 256 65536 dtype=bf16"), 1024).match != Match::near);
}

TEST_CASE("other cards' rows are read once, and not before the device's own leave a problem open") {
    const DeviceInfo h200 = hopper("NVIDIA H200");
    int asked = 0;
    const Winners winners({row(h200, "64 64 64 dtype=bf16", "wgmma 64x64x64 s4")}, h200, {}, [&] {
        ++asked;
        return std::vector<WinnerRow>{row(hopper(kH100), kProblem, kWinner)};
    });
    CHECK(winners.select(shape("64 64 64 dtype=bf16")).match == Match::exact);
    CHECK(asked == 0);
    for (int i = 0; i < 2; ++i) CHECK(winners.select(shape(kProblem)).config == tmm::parse_config(kWinner));
    CHECK(asked == 1);
}

TEST_CASE("what other cards' winners lead to is faster than guesses, by recorded times") {
    namespace fs = std::filesystem;
    int cards = 0;
    for (const char* name : {"regret-h100.csv.gz", "regret-h200.csv.gz"}) {
        const tmm::bench::RecordedTimes recorded = tmm::testing::read_recording(fs::path(TMM_SOURCE_DIR) / "bench" / "results" / name);
        const Winners winners(tmm::shipped_winners_beside(recorded.device.name, recorded.device.compute_capability()), recorded.device);
        double of_followed = 0;
        double of_guesses = 0;
        int count = 0;
        for (const auto& [text, problem] : recorded.problems) {
            if (!problem.complete) continue;
            const tmm::GemmProblem asked = tmm::parse_shape(text).problem;
            const Selection chosen = winners.select(asked);
            const double followed = part_of_fastest(problem, chosen.config);
            const double guessed = part_of_fastest(problem, tmm::default_config(asked, recorded.device));
            if (chosen.match != Match::near || followed == 0 || guessed == 0) continue;
            CHECK_MESSAGE(followed >= 0.8, text << ": " << followed << " by " << chosen.why);
            of_followed += std::log(followed);
            of_guesses += std::log(guessed);
            ++count;
        }
        REQUIRE(count >= 20);
        fmt::print("{}: what other cards' winners lead to is {:.1f}% as fast as the fastest, and guesses are {:.1f}%, {} shapes\n", name,
                   100 * std::exp(of_followed / count), 100 * std::exp(of_guesses / count), count);
        CHECK(of_followed > of_guesses + 0.01 * count);
        CHECK(of_followed >= count * std::log(0.965));
        ++cards;
    }
    CHECK(cards == 2);
}
