// What tmm-tune measures of a GPU itself, against what is known of its model. Skipped with a message where there is no GPU.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "generator/machine/measured_rates.h"
#include "runtime/device/device.h"
#include "tests/support/database_fixture.h"
#include "tests/support/kernels/planted_testing.h"
#include "tests/support/tuner_testing.h"
#include "tuner/measure/ceilings.h"
#include "tuner/run/device_profile.h"

using namespace tmm;

namespace {

bool no_gpu() {
    if (gpu_count() > 0) return false;
    MESSAGE("skipped: no GPU here");
    return true;
}

struct Bounds {
    const char* name;
    double measured;
    double known;
    double least;
    double most;
};

}  // namespace

TEST_CASE("the rates of a GPU are near those of its model, the same twice, and measured in seconds") {
    if (no_gpu()) return;
    const std::shared_ptr<Device> device = open_device(0);
    const DeviceInfo& info = device->info();
    // The first compiles the kernels.
    const MeasuredRates first = measure_rates(device);
    const auto begun = std::chrono::steady_clock::now();
    const MeasuredRates rates = measure_rates(device);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    MESSAGE(fmt::format("{} in {:.2f} s: {}; one SM {:.4g} FMAs/us", info.name, seconds, to_text(rates), rates.fmas_of_one_sm));
    CHECK(seconds < 20);
    CHECK(why_untrusted(rates, info) == "");
    for (const RateField& field : kRateFields) {
        CAPTURE(std::string(field.name));
        CHECK(rates.*field.member == doctest::Approx(first.*field.member).epsilon(0.15));
    }

    const MachineProfile known = profile_of(info);
    if (known.origin != MachineProfile::Origin::shipped) return;
    for (const Bounds& bounds : {Bounds{"read_bytes", rates.read_bytes, known.memory_bytes, 0.9, 1.1},
                                 Bounds{"fmas", rates.fmas, info.sm_count * known.fmas_per_clock * known.fma_clock, 0.85, 1.05},
                                 Bounds{"fmas_of_one_sm", rates.fmas_of_one_sm, known.fmas_per_clock * known.clock, 0.9, 1.05},
                                 Bounds{"mma_16", rates.mma_16, info.sm_count * known.mma_16_per_clock * known.tensor_clock, 0.75, 1.3},
                                 Bounds{"mma_clock", rates.mma_clock, known.tensor_clock, 0.75, 1.05},
                                 Bounds{"launch_gap", rates.launch_gap, known.launch, 0.5, 1.2}}) {
        CAPTURE(std::string(bounds.name));
        CAPTURE(bounds.measured);
        CHECK(bounds.measured >= bounds.least * bounds.known);
        CHECK(bounds.measured <= bounds.most * bounds.known);
    }
    const MachineProfile profile = profile_of(info, rates);
    CHECK(origin_text(profile) == "shipped with tmm");
}

TEST_CASE("tmm-tune measures a GPU once, says so in a line, and again with --remeasure") {
    if (no_gpu()) return;
    const tuner_testing::TunerFolder folder("64 64 64\n");
    const auto tune = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"--gpu",    "0",     "--shapes", folder.shapes().string(), "--db", folder.database().string(),
                                           "--effort", "quick", "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return folder.run(arguments);
    };
    const auto was_measured = [](const tuner_testing::Finished& run) {
        return run.err.find(" was measured: memory ") != std::string::npos;
    };
    const auto first = tune({});
    REQUIRE_MESSAGE(first.status == 0, first.err);
    CHECK_MESSAGE(was_measured(first), first.err);
    const auto profile = nlohmann::json::parse(first.out).at("devices").at(0).at("profile");
    CHECK(profile.at("rates").at("read_bytes").get<double>() > 0);
    CHECK(folder.count("SELECT count(*) FROM machine_rates") == 1);
    const auto second = tune({});
    CHECK_FALSE(was_measured(second));
    CHECK(nlohmann::json::parse(second.out).at("devices").at(0).at("profile") == profile);
    CHECK(was_measured(tune({"--remeasure"})));
    CHECK(folder.count("SELECT count(*) FROM machine_rates") == 2);
}

TEST_CASE("a GPU that faults while it is measured costs a line and a worker, and the run goes on") {
    if (no_gpu()) return;
    tuner_testing::PlantedFolder folder("64 64 64\n");
    folder.environment["TMM_CACHE_DIR"] = (folder.path / "cache").string();
    folder.plant("checks/ceilings/kernels.cuh", "__device__ inline void read(const ReadArgs& args) {", "asm volatile(\"trap;\");");
    const auto run =
        folder.run({"--gpu", "0", "--shapes", folder.shapes().string(), "--db", folder.database().string(), "--effort", "quick"});
    CHECK_MESSAGE(run.status == 0, run.err);
    CHECK_MESSAGE(run.err.find(": no rates were measured: it ended the worker process (") != std::string::npos, run.err);
    CHECK(folder.count("SELECT count(*) FROM machine_rates") == 0);
    CHECK(folder.count("SELECT count(*) FROM selection") == 1);
}
