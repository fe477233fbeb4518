// The winner that ls, shipped, show and the report name is the one that the library runs, with its time; show says so of shapes that nobody
// tuned, too.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/store/record_text.h"
#include "db/store/records.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"
#include "runtime/select/read_winners.h"
#include "runtime/select/selection.h"
#include "tests/support/database_fixture.h"
#include "tests/support/json_schema_testing.h"
#include "tools/tmm_db/html_report/report_content.h"
#include "tools/tmm_db/library_chooser.h"
#include "tools/tmm_db/winner_list.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

CommandResult tool(const fs::path& folder, const std::string& words) {
    return run_command(fmt::format("cd '{}' && TMM_DB=t.db TMM_CACHE_DIR={}/tests/tuner_cache {}/tools/tmm-db {}", folder.string(),
                                   TMM_BINARY_DIR, TMM_BINARY_DIR, words));
}

constexpr const char* kShape = "210x210x210";
const char* const kOwn = "simt 32x32x16 t4x4 s2";
const char* const kStrict = "simt 16x32x32 t4x1 s2";

// On an H200 f32_strict's winner is the faster one, and keeps f32's promise.
void fill(const fs::path& file, double own_us = 2.436, double strict_us = 1.792) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    const GemmProblem own = problem_of(kShape), strict = problem_of(std::string(kShape) + " compute=f32_strict");
    database.record(own, parse_config(kOwn), {}, measured(own_us));
    database.record(own, parse_config(kStrict), {}, measured(strict_us));
    database.decide(own, {}, {.config = parse_config(kOwn), .median_us = own_us, .candidates = 2, .reason = "f32's own", .default_us = 9});
    database.decide(strict, {},
                    {.config = parse_config(kStrict),
                     .median_us = strict_us,
                     .candidates = 1,
                     .reason = "the strict one",
                     .default_us = 2 * strict_us,
                     .runner_up = parse_config(kOwn),
                     .runner_up_us = 1.5 * strict_us});
}

DeviceInfo device_of_row(const WinnerRow& row) {
    DeviceInfo device = *remembered_device(device_of(model_of(row)));
    device.sm_count = row.sm_count;
    return device;
}

}  // namespace

TEST_CASE("of every winner that ships, the one that is listed is the one that the library selects") {
    const LibraryChooser choose = make_library_chooser(std::nullopt);
    std::set<std::string> served;
    for (const char* card : {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}) {
        const auto rows = shipped_winners(card);
        REQUIRE(rows.size() > 300);
        const Winners winners(rows, device_of_row(rows.front()));
        for (const WinnerRow& row : rows) {
            CAPTURE(to_text(row.problem));
            const ListedWinner shown = listed(row, choose);
            const Selection selected = winners.select(row.problem);
            CHECK(shown.row.config == selected.config);
            CHECK(shown.row.median_us == selected.measured_us);
            CHECK(shown.row.problem == row.problem);
            // No mode that keeps the promise is more than a tie faster than what is shown.
            if (!shown.served_by.empty()) CHECK(shown.row.median_us < row.median_us);
            served.insert(shown.served_by);
        }
    }
    CHECK(served == std::set<std::string>{"", "f32", "f32_strict"});
}

TEST_CASE("ls, show, their JSON and the report name the faster winner of another mode, with its time, and say whose it is") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "t.db");
    const auto listed = tool(folder, "ls --wide --gpu H200");
    CHECK_MESSAGE(contains(listed.out, "served by"), listed.out);
    CHECK_FALSE(contains(listed.out.substr(0, listed.out.find("\n210x210x210 compute=")), "2.436   "));
    const json ls = json::parse(tool(folder, "ls --json").out);
    CHECK(schema_faults("winners.json", ls.dump()) == "");
    for (const auto& problem : ls["devices"][0]["problems"]) {
        CHECK(problem["median_us"] == 1.792);
        CHECK(problem["vs_default"] == doctest::Approx(2));
        CHECK(problem["config"]["block_m"] == 16);
        CHECK(problem["served_by"] == (problem["problem"] == kShape ? json("f32_strict") : json(nullptr)));
    }
    CHECK(contains(
        ls["devices"][0]["problems"][0]["reason"].get<std::string>() + ls["devices"][0]["problems"][1]["reason"].get<std::string>(),
        "its own takes 2.436 µs, simt 32x32x16 t4x4 s2: the strict one"));

    const auto shown = tool(folder, fmt::format("show {}", kShape));
    CHECK_MESSAGE(contains(shown.out, std::string("winner      ") + to_text(parse_config(kStrict)) + "\n"), shown.out);
    CHECK_MESSAGE(contains(shown.out, "served by   the f32_strict winner, since its own takes 2.436 µs: simt 32x32x16 t4x4 s2"), shown.out);
    CHECK_MESSAGE(contains(shown.out, "time        1.792 µs"), shown.out);
    CHECK_MESSAGE(contains(shown.out, "vs default  2.00x"), shown.out);
    const json show = json::parse(tool(folder, fmt::format("show {} --json", kShape)).out);
    CHECK(schema_faults("show.json", show.dump()) == "");
    const json& device = show["devices"][0];
    CHECK(device["winner"]["median_us"] == 1.792);
    CHECK(device["winner"]["compute"] == "f32_strict");
    CHECK(device["winner"]["default_us"] == doctest::Approx(3.584));
    CHECK(device["winner"]["runner_up"] == to_text(parse_config(kOwn)));
    CHECK(device["winner"]["runner_up_us"] == doctest::Approx(2.688));
    CHECK(device["winner"]["driver_version"] == 13000);
    CHECK(device["winner"]["nvrtc_version"] == 12090);
    CHECK(device["own_winner"]["median_us"] == 2.436);
    CHECK(device["runs"]["match"] == "exact");
    CHECK(device["runs"]["config"] == device["winner"]["config"]);
    CHECK(contains(tool(folder, fmt::format("candidates {}", kShape)).out, "1.792"));

    TuningDatabase database(folder / "t.db", Mode::read_only);
    const ReportContent content = read_report_content(database, {.choose = make_library_chooser(folder / "t.db")});
    REQUIRE(content.winners.size() == 2);
    for (const auto& winner : content.winners) CHECK(winner.row.median_us == 1.792);

    // Decisions are exported as they were made, and who exports them hears of it.
    const auto exported = tool(folder, "export --csv --winners");
    CHECK(exported.status == 0);
    CHECK_MESSAGE(contains(exported.err, "1 of these winners does not run"), exported.err);
    CHECK(contains(exported.out, ",2.436,"));
}

TEST_CASE("a mode's own winner is named where it is the faster one, or as fast") {
    for (const double own_us : {1.5, 1.795}) {
        const TemporaryDirectory directory;
        fill(directory / "t.db", own_us);
        const json ls = json::parse(tool(directory / "", "ls --json").out);
        for (const auto& problem : ls["devices"][0]["problems"]) {
            if (problem["problem"] != kShape) continue;
            CHECK(problem["median_us"] == own_us);
            CHECK(problem["served_by"].is_null());
        }
        if (own_us > 1.7) CHECK(tool(directory / "", "export --csv --winners").err == "");
    }
}

TEST_CASE("a winner that can't run, and one that nobody measured, are not shown as what runs") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    {
        TuningDatabase database(folder / "t.db", Mode::read_write_create);
        database.set_environment(environment_of("NVIDIA H200"));
        // More shared memory than any GPU has; and a guess for a shape that ships.
        database.decide(problem_of("300 300 300"), {},
                        {.config = parse_config("simt 256x256x64 t8x8 s16"), .median_us = 0.5, .candidates = 1, .reason = "planted"});
        database.decide(problem_of("4096 4096 4096"), {}, {.config = parse_config(kOwn), .reason = "a guess", .predicted = true});
    }
    const json ls = json::parse(tool(folder, "ls --json").out);
    for (const auto& problem : ls["devices"][0]["problems"]) {
        CAPTURE(problem.dump());
        if (problem["problem"] == "300x300x300") {
            CHECK(problem["median_us"].is_null());
            CHECK(problem["served_by"] != "exact");
            CHECK_FALSE(problem["served_by"].is_null());
        } else {
            CHECK(problem["served_by"] == "shipped");
            CHECK(problem["predicted"] == false);
            CHECK(problem["median_us"] > 100);
        }
    }
    const auto planted = tool(folder, "show 300x300x300");
    CHECK_MESSAGE(contains(planted.out, "runs        "), planted.out);
    CHECK_MESSAGE(contains(planted.out, "its winner in the database is not valid"), planted.out);
    const auto shipped = tool(folder, "show 4096x4096x4096 --gpu H200");
    CHECK_MESSAGE(contains(shipped.out, "shipped with tmm"), shipped.out);
}

TEST_CASE("of thousands of shapes that nobody measured ls has what was predicted, at once") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    {
        TuningDatabase database(folder / "t.db", Mode::read_write_create);
        database.set_environment(environment_of("NVIDIA H200"));
        database.decide(problem_of("901 900 900"), {}, {.config = parse_config(kOwn), .reason = "a guess", .predicted = true});
        const TuningRecord first = database.records().front();
        std::vector<TuningRecord> records(3000, first);
        for (std::size_t i = 0; i < records.size(); ++i) records[i].problem.m += static_cast<i64>(i);
        database.insert(records);
    }
    const auto start = std::chrono::steady_clock::now();
    const json ls = json::parse(tool(folder, "ls --json").out);
    // Choosing for each of them takes half a minute.
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
    const json& problems = ls["devices"][0]["problems"];
    CHECK(problems.size() == 3000);
    CHECK(problems[1000]["config"]["block_m"] == 32);
    CHECK(problems[1000]["origin"] == "user");
    CHECK(problems[1000]["predicted"] == true);
    CHECK(problems[1000]["served_by"].is_null());
}

TEST_CASE("show explains the winners that ship, without a database, with an empty one, and beside another device's") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    const auto check = [&](const char* shape) {
        CAPTURE(std::string(shape));
        const auto result = tool(folder, fmt::format("show '{}' --gpu H200", shape));
        CHECK_MESSAGE(result.status == 0, result.err);
        CHECK(contains(result.out, "on NVIDIA H200 (compute capability 9.0, 132 SMs)\n"));
        CHECK(contains(result.out, "shipped with tmm"));
        CHECK(contains(result.out, " µs"));
        CHECK(contains(result.out, "  why "));
        CHECK_FALSE(contains(result.out, "H100"));
        const auto as_json = tool(folder, fmt::format("show '{}' --gpu H200 --json", shape));
        CHECK(schema_faults("show.json", as_json.out) == "");
        const json device = json::parse(as_json.out)["devices"][0];
        CHECK(device["winner"]["origin"] == "shipped");
        CHECK(device["winner"]["median_us"] == device["runs"]["median_us"]);
    };
    for (const char* shape : {"4096x4096x4096", "128x128x128", "16 4096 4096 dtype=bf16 ops=nt", "1024 1024 1024 compute=f32_strict"})
        check(shape);
    // Without --gpu all devices that winners ship for are told of.
    const auto all = tool(folder, "show 4096x4096x4096");
    CHECK(all.status == 0);
    CHECK(contains(all.out, "H100"));
    CHECK(contains(all.out, "H200"));
    {
        TuningDatabase database(folder / "t.db", Mode::read_write_create);
        database.set_environment({.device = host_device_info()});
        database.decide(problem_of("4096 4096 4096"), {}, {.config = tiled_config(16), .median_us = 5, .candidates = 1, .reason = "mine"});
    }
    check("4096x4096x4096");
    const auto own = tool(folder, "show 4096x4096x4096");
    CHECK(contains(own.out, "on host"));
    CHECK_FALSE(contains(own.out, "H200"));
}

TEST_CASE("a shape that nobody tuned: what runs, why, and status 6") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    const auto near = tool(folder, "show 4000x4096x4096 --gpu H200");
    CHECK(near.status == 6);
    CHECK_MESSAGE(contains(near.out, "winner      none has been decided on"), near.out);
    CHECK_MESSAGE(contains(near.out, "runs        "), near.out);
    CHECK_MESSAGE(contains(near.out, "nearest tuned problem"), near.out);
    CHECK_MESSAGE(contains(near.out, "predicted   "), near.out);
    CHECK_MESSAGE(contains(near.err, "has not been tuned on a device named 'H200'; the nearest tuned: "), near.err);
    const auto as_json = tool(folder, "show 4000x4096x4096 --gpu H200 --json");
    CHECK(as_json.status == 6);
    CHECK(schema_faults("show.json", as_json.out) == "");
    const json device = json::parse(as_json.out)["devices"][0];
    CHECK(device["winner"].is_null());
    CHECK(device["runs"]["match"] == "near");
    CHECK(device["runs"]["predicted_us"]["total"] > 100);
    // It is what a program gets.
    const auto rows = shipped_winners("NVIDIA H200");
    const Winners winners(rows, device_of_row(rows.front()));
    CHECK(contains(near.out, "runs        " + to_text(winners.select(problem_of("4000 4096 4096")).config)));
}

TEST_CASE("nothing is predicted of the emulated device, as docs/report.md says") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    {
        TuningDatabase database(folder / "t.db", Mode::read_write_create);
        database.set_environment({.device = host_device_info()});
        database.record(problem_of("64 64 64"), tiled_config(16), {}, measured(5));
        database.decide(problem_of("64 64 64"), {}, {.config = tiled_config(16), .median_us = 5, .candidates = 1, .reason = "mine"});
    }
    CHECK(contains(read_file(fs::path(TMM_SOURCE_DIR) / "docs/report.md"), "Nothing is predicted of the emulated device."));
    for (const char* words : {"show 64x64x64", "show 64x64x60", "candidates 64x64x64"}) {
        const auto result = tool(folder, words);
        CHECK_MESSAGE(!contains(result.out, "predicted  "), result.out);
        const auto as_json = tool(folder, std::string(words) + " --json");
        CHECK_FALSE(contains(as_json.out, "\"predicted_us\": {"));
    }
}
