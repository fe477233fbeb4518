// tmm-db stale: which winners it lists, why, and that it lists those which tmm-tune looks at again.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "generator/compile/kernel_book.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/text.h"
#include "tests/support/database_fixture.h"
#include "tests/support/json_schema_testing.h"
#include "tests/support/terminal_testing.h"

using namespace tmm;
using namespace tmm::testing;
using Json = nlohmann::json;
using Mode = TuningDatabase::Mode;

namespace {

const char* const kH200 = "NVIDIA H200";

// As tmm-tune leaves a problem whose winner was measured with today's kernels, or with others.
void decide(const std::filesystem::path& file, const std::string& shape, const Environment& environment, bool todays_kernels = true) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment);
    const GemmProblem problem = problem_of(shape);
    const KernelConfig config = tiled_config(16);
    KernelBook book;
    const DeviceInfo device = remembered_device(environment.device).value();
    const std::string hash = kernel_hash(make_launch_plan(problem, config, device), book);
    database.record(problem, config, {}, measured(10, todays_kernels ? hash : "00000000000000aa"));
    database.decide(problem, {}, {.config = config, .median_us = 10, .candidates = 1, .reason = "the only one"});
}

Environment h200(int driver, int nvrtc) {
    Environment environment = environment_of(kH200);
    environment.device.driver_version = driver;
    environment.nvrtc_version = nvrtc;
    return environment;
}

std::string with_driver_of(const std::filesystem::path& folder, const std::filesystem::path& file, const std::string& words) {
    return fmt::format("env LD_LIBRARY_PATH='{}' TMM_NVRTC=/nonexistent '{}/tools/tmm-db' stale --db '{}' {}", folder.string(),
                       TMM_BINARY_DIR, file.string(), words);
}
// Neither a driver nor NVRTC is found there, whatever the machine has.
std::string command(const std::filesystem::path& file, const std::string& words) {
    write_file(file.parent_path() / "libcuda.so.1", "this is no library");
    return with_driver_of(file.parent_path(), file, words);
}

Json devices(const std::filesystem::path& file, const std::string& words) {
    const CommandResult result = run_command(command(file, words + " --json"));
    CAPTURE(result.err);
    REQUIRE(result.status == 0);
    CHECK(schema_faults("stale.json", result.out) == "");
    return Json::parse(result.out)["devices"];
}

// "64x64x64: driver kernels", a problem each.
std::vector<std::string> stale(const Json& device) {
    std::vector<std::string> lines;
    for (const Json& row : device["stale"]) {
        std::string line = row["problem"].get<std::string>() + ":";
        for (const Json& what : row["changed"]) line += " " + what.get<std::string>();
        lines.push_back(line);
    }
    return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a winner is stale by its driver, its NVRTC or its kernels, each by itself") {
    const TemporaryDirectory folder;
    const auto file = folder / "tmm.db";
    decide(file, "64x64x64", h200(13000, 12090));
    decide(file, "65x64x64", h200(12080, 12090));
    decide(file, "66x64x64", h200(13000, 12060));
    decide(file, "67x64x64", h200(13000, 12090), false);
    decide(file, "68x64x64", h200(12080, 12060), false);
    const Json known = devices(file, "--driver 13.0 --nvrtc 12.9");
    REQUIRE(known.size() == 1);
    CHECK(known[0]["winners"] == 5);
    CHECK(stale(known[0]) == Lines{"65x64x64: driver", "66x64x64: nvrtc", "67x64x64: kernels", "68x64x64: driver nvrtc kernels"});
    CHECK(known[0]["stale"][3]["driver"] == "12.8");
    CHECK(known[0]["stale"][3]["nvrtc"] == "12.6");
    CHECK(known[0]["driver"]["source"] == "given");
    // A driver that was taken back to an older version is another one, too.
    CHECK(stale(devices(file, "--driver 12.8 --nvrtc 12.6")[0]).size() == 5);
    CHECK(stale(devices(file, "--driver 12.8 --nvrtc 12.6")[0])[4] == "68x64x64: kernels");
}

TEST_CASE("a winner that was decided by times back to back is stale until one with another kernel between takes its place") {
    const TemporaryDirectory folder;
    const auto file = folder / "tmm.db";
    decide(file, "64x64x64", h200(13000, 12090));
    decide(file, "65x64x64", h200(13000, 12090));
    CHECK(stale(devices(file, "--driver 13.0 --nvrtc 12.9")[0]).empty());
    SQLite::Database(file, SQLite::OPEN_READWRITE).exec("UPDATE policy SET other_kernel = 0");
    CHECK(stale(devices(file, "--driver 13.0 --nvrtc 12.9")[0]) == Lines{"64x64x64: back_to_back", "65x64x64: back_to_back"});
    CHECK(run_command(command(file, "--driver 13.0 --nvrtc 12.9")).out.find("timed back to back") != std::string::npos);
    decide(file, "65x64x64", h200(13000, 12090));
    CHECK(stale(devices(file, "--driver 13.0 --nvrtc 12.9")[0]) == Lines{"64x64x64: back_to_back"});
}

TEST_CASE("a winner that was imported without measurements is said to have none, not to have other kernels") {
    const TemporaryDirectory folder;
    const auto file = folder / "tmm.db";
    const auto imported = folder / "imported.db";
    decide(file, "64x64x64", h200(13000, 12090));
    const std::string tool = TMM_BINARY_DIR "/tools/tmm-db";
    const std::string winners = folder / "winners.csv";
    REQUIRE(run_command(fmt::format("'{}' export --csv --winners --db '{}' >'{}'", tool, file.string(), winners)).status == 0);
    REQUIRE(run_command(fmt::format("'{}' import '{}' --db '{}'", tool, winners, imported.string())).status == 0);
    CHECK(stale(devices(imported, "--driver 13.0 --nvrtc 12.9")[0]) == Lines{"64x64x64: unmeasured"});
    CHECK(run_command(command(imported, "--driver 13.0 --nvrtc 12.9")).out.find("unmeasured") != std::string::npos);
}

TEST_CASE("without a driver and NVRTC winners are compared with the newest of their device") {
    const TemporaryDirectory folder;
    const auto file = folder / "tmm.db";
    decide(file, "64x64x64", h200(13000, 12090));
    decide(file, "65x64x64", h200(12080, 12060));
    Environment h100 = environment_of("NVIDIA H100 80GB HBM3");
    h100.device.driver_version = 12080;
    decide(file, "64x64x64", h100);
    const Json known = devices(file, "");
    REQUIRE(known.size() == 2);
    CHECK(known[0]["driver"] == Json({{"version", "12.8"}, {"source", "newest in database"}}));
    CHECK(stale(known[0]).empty());
    CHECK(known[1]["driver"] == Json({{"version", "13.0"}, {"source", "newest in database"}}));
    CHECK(known[1]["nvrtc"] == Json({{"version", "12.9"}, {"source", "newest in database"}}));
    CHECK(stale(known[1]) == Lines{"65x64x64: driver nvrtc"});
    CHECK(devices(file, "--gpu H200").size() == 1);
}

TEST_CASE("the installed driver is what winners are compared with") {
    const TemporaryDirectory folder;
    const auto file = folder / "tmm.db";
    decide(file, "64x64x64", h200(12080, 12090));
    const CommandResult result = run_command(with_driver_of(TMM_TEST_GPU_STAND_IN, file, "--json"));
    CAPTURE(result.err);
    const Json known = Json::parse(result.out)["devices"];
    CHECK(known[0]["driver"] == Json({{"version", "13.0"}, {"source", "installed"}}));
    CHECK(stale(known[0]) == Lines{"64x64x64: driver"});
}

TEST_CASE("guesses and winners that ship are no winners of one's own") {
    const TemporaryDirectory folder;
    const auto file = folder / "tmm.db";
    decide(file, "64x64x64", h200(12080, 12060));
    {
        TuningDatabase database(file, Mode::read_write);
        database.set_environment(h200(12000, 12000));
        database.decide(problem_of("65x64x64"), {}, {.config = tiled_config(16), .predicted = true});
        database.set_environment(environment_of("NVIDIA H100 PCIe"));
        database.decide(problem_of("65x64x64"), {}, {.config = tiled_config(16), .predicted = true});
    }
    const Json known = devices(file, "--driver 13.0");
    CHECK(known[0]["winners"] == 1);
    CHECK(stale(known[0]) == Lines{"64x64x64: driver"});
    CHECK(devices(file, "--gpu H100").empty());
    const CommandResult none = run_command(command(file, "--gpu H100"));
    CHECK(none.status == 0);
    CHECK(none.out == "no winners of your own on a device named 'H100' yet; run tmm-tune\n");
}

TEST_CASE("what stale lists is what tmm-tune measures again") {
    const TemporaryDirectory folder;
    const auto file = folder / "tmm.db";
    write_file(folder / "shapes.txt", "16 16 16\n24 16 16\n");
    const auto tune = [&] {
        const CommandResult result = run_command(
            fmt::format("TMM_CACHE_DIR='{}/tests/tuner_cache' '{}/tools/tmm-tune' --gpu host --effort quick --db '{}' --shapes '{}'",
                        TMM_BINARY_DIR, TMM_BINARY_DIR, file.string(), (folder / "shapes.txt").string()));
        CAPTURE(result.err);
        REQUIRE(result.status == 0);
        return result.out;
    };
    tune();
    CHECK(stale(devices(file, "")[0]).empty());
    CHECK(tune().find("nothing to measure") != std::string::npos);
    SQLite::Database(file, SQLite::OPEN_READWRITE)
        .exec("UPDATE measurement SET kernel_hash = 'earlier' WHERE problem_id = (SELECT id FROM problem_fields WHERE m = 24)");
    CHECK(stale(devices(file, "")[0]) == Lines{"24x16x16: kernels"});
    // A GPU's driver and NVRTC are none of the emulated device's.
    CHECK(stale(devices(file, "--driver 13.0 --nvrtc 12.9")[0]) == Lines{"24x16x16: kernels"});
    CHECK(tune().find("24x16x16") != std::string::npos);
    CHECK(stale(devices(file, "")[0]).empty());
}

TEST_CASE("the table says what changed, what it compares with, and fits the terminal") {
    const TemporaryDirectory folder;
    const auto file = folder / "tmm.db";
    decide(file, "1000 1000 1000 ops=nt lda=1032 ldb=1040 batch=12 beta=1", h200(12080, 12090), false);
    decide(file, "64x64x64", h200(13000, 12090));
    for (const int columns : {80, 47}) {
        const Shown shown = run_in_terminal(command(file, "--driver 13.0"), columns);
        CHECK(shown.status == 0);
        check_fits(shown.text, columns);
        for (const char* part : {"1 stale of 2 winners", "12.8", "changed"})
            CHECK_MESSAGE(without_colors(shown.text).find(part) != std::string::npos, shown.text);
    }
    for (const char* wrong : {"13", "13.", "x", "13.0.1", "-1.0", "0.5", "1000.0", "13.100", "''"}) {
        CAPTURE(std::string(wrong));
        const CommandResult result = run_command(command(file, fmt::format("--driver={}", wrong)));
        CHECK(result.status == 1);
        CHECK(result.err.find("--driver") != std::string::npos);
    }
}

TEST_CASE("a slice of a GPU is a device of its own, with winners and a driver of its own") {
    const TemporaryDirectory folder;
    const auto file = folder / "tmm.db";
    decide(file, "64x64x64", environment_of("NVIDIA H100 80GB HBM3"));
    Environment slice = environment_of("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 90, 16);
    slice.device.driver_version = 12080;
    decide(file, "64x64x64", slice);
    decide(file, "65x64x64", slice);
    const Json known = devices(file, "");
    REQUIRE(known.size() == 2);
    for (const Json& device : known) {
        const bool is_slice = device["sm_count"] == 16;
        CHECK(device["winners"] == (is_slice ? 2 : 1));
        CHECK(device["driver"]["version"] == (is_slice ? "12.8" : "13.0"));
        CHECK(device["stale"].empty());
    }
    TuningDatabase database(file, Mode::read_write);
    database.set_environment(environment_of("NVIDIA H100 80GB HBM3"));
    CHECK_FALSE(database.decision(problem_of("65x64x64")));
}
