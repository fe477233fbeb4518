// ls --sort and --where, diff across GPUs, and forget.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/store/records.h"
#include "generator/choice/predicted_config.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/text.h"
#include "tests/support/database_fixture.h"
#include "tests/support/json_schema_testing.h"
#include "tools/tmm_db/list_keys.h"

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
    return run_command(fmt::format("cd '{}' && TMM_DB=t.db {}/tools/tmm-db {}", folder.string(), TMM_BINARY_DIR, words));
}

// Shapes that ship for no GPU, on two GPUs; the second one takes half the time.
void fill(const fs::path& file, const std::vector<std::string>& devices = {"NVIDIA L40S", "NVIDIA L4"}) {
    TuningDatabase database(file, Mode::read_write_create);
    double factor = 1;
    for (const std::string& device : devices) {
        database.set_environment(environment_of(device, 89, 142));
        double us = 10 * factor;
        for (const char* shape : {"300 300 300", "24 600 600 dtype=bf16 ops=nt", "700 700 20 batch=3", "8 8 8"}) {
            const GemmProblem problem = problem_of(shape);
            const KernelConfig winner = problem.type_a == ElementType::f32 ? tiled_config(us > 20 * factor ? 16 : 32)
                                                                           : default_config(problem, assumed_device("89"));
            for (const double slower : {1.5, 1.2}) database.record(problem, tiled_config(8), {}, measured(us * slower));
            database.record(problem, winner, {}, measured(us));
            for (const char* reason : {"the first", "the second"})
                database.decide(problem, {}, {.config = winner, .median_us = us, .candidates = 2, .reason = reason, .default_us = us + 10});
            us += 7 * factor;
        }
        database.record(
            {.read_bytes = 0.5e6, .fmas = 36e6, .fmas_of_one_sm = 0.28e6, .mma_16 = 80e6, .mma_clock = 2200, .launch_gap = 0.5});
        factor /= 2;
    }
}

std::vector<std::string> shapes(const CommandResult& result) {
    std::vector<std::string> found;
    const json listed = json::parse(result.out);
    for (const auto& device : listed["devices"])
        for (const auto& problem : device["problems"]) found.push_back(problem["problem"]);
    return found;
}

int count(const fs::path& file, const std::string& what) {
    return SQLite::Database(file).execAndGet("SELECT count(*) FROM " + what).getInt();
}

using Shapes = std::vector<std::string>;

}  // namespace

TEST_CASE("ls sorts by any key, in either direction") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "t.db", {"NVIDIA L4"});
    const auto sorted = [&](const std::string& key) { return shapes(tool(folder, "ls --json --sort " + key)); };
    const Shapes by_time = {"300x300x300", "24x600x600 dtype=bf16 ops=nt", "700x700x20 batch=3", "8x8x8"};
    CHECK(sorted("us") == by_time);
    CHECK(sorted("-us") == Shapes(by_time.rbegin(), by_time.rend()));
    CHECK(sorted("vs_default") == Shapes(by_time.rbegin(), by_time.rend()));
    CHECK(sorted("m") == Shapes{"8x8x8", "24x600x600 dtype=bf16 ops=nt", "300x300x300", "700x700x20 batch=3"});
    CHECK(sorted("dtype").front() == "24x600x600 dtype=bf16 ops=nt");
    CHECK(sorted("-batch").front() == "700x700x20 batch=3");
    CHECK(sorted("shape").size() == 4);
    for (const std::string& key : list_keys()) {
        CAPTURE(key);
        const Shapes all = sorted(key);
        CHECK(all.size() == 4);
    }
    const auto wrong = tool(folder, "ls --sort tflop");
    CHECK(wrong.status == 1);
    CHECK_MESSAGE(contains(wrong.err, "--sort tflop: there is no key 'tflop'; did you mean tflops?"), wrong.err);
    // A table is sorted as the JSON is.
    const auto table = tool(folder, "ls --sort -m").out;
    CHECK(table.find("700x700x20") < table.find("300x300x300"));
    CHECK(contains(tool(folder, "shipped --gpu H200 --sort -m --where dtype=f32").out, "H200"));
}

TEST_CASE("ls --where keeps what meets all conditions, and fails where nothing does") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "t.db", {"NVIDIA L4"});
    const auto with = [&](const std::string& conditions) { return shapes(tool(folder, "ls --json " + conditions)); };
    CHECK(with("--where 'm<=24'") == Shapes{"8x8x8", "24x600x600 dtype=bf16 ops=nt"});
    CHECK(with("--where 'm<24'") == Shapes{"8x8x8"});
    CHECK(with("--where m=300") == Shapes{"300x300x300"});
    CHECK(with("--where 'm!=300' --where 'batch>=2'") == Shapes{"700x700x20 batch=3"});
    CHECK(with("--where dtype=BF16") == Shapes{"24x600x600 dtype=bf16 ops=nt"});
    CHECK(with("--where ops=nt") == Shapes{"24x600x600 dtype=bf16 ops=nt"});
    CHECK(with("--where 'us>25' --where family=tiled") == Shapes{"8x8x8"});
    CHECK(with("--where family=tiled --where block_m=32") == Shapes{"300x300x300"});
    CHECK(with("--where origin=user --where epilogue=none").size() == 4);
    struct Wrong {
        const char* condition;
        int status;
        const char* said;
    };
    for (const Wrong& wrong : {Wrong{"m", 1, "is no condition; write a key"},
                               {"m=", 1, "is no condition"},
                               {"=3", 1, "is no condition"},
                               {"m=>3", 1, "is no condition"},
                               {"m=three", 1, "m = 'three' is not a number"},
                               {"mm=3", 1, "there is no key 'mm'"},
                               {"dtype<bf16", 1, "dtype has no order"},
                               {"m=301", 6, "no winner meets it; the values of m are 8, 24, 300, 700"},
                               {"dtype=bfloat16", 6, "the values of dtype are bf16, f32"}}) {
        CAPTURE(std::string(wrong.condition));
        const auto result = tool(folder, fmt::format("ls --where '{}'", wrong.condition));
        CHECK(result.status == wrong.status);
        CHECK(result.out == "");
        CHECK_MESSAGE(contains(result.err, fmt::format("--where {}: ", wrong.condition)), result.err);
        CHECK_MESSAGE(contains(result.err, wrong.said), result.err);
    }
    // Where there are very many values, the least and the largest are told.
    const auto result = tool(folder, "shipped --where 'm<0'");
    CHECK(result.status == 6);
    CHECK_MESSAGE(contains(result.err, "no winner meets it; m is from 1 to "), result.err);
}

TEST_CASE("diff compares two GPUs: two databases of one each, or one database and two names") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "t.db");
    fill(folder / "a.db", {"NVIDIA L40S"});
    fill(folder / "b.db", {"NVIDIA L4"});
    SQLite::Database(folder / "b.db", SQLite::OPEN_READWRITE).exec("UPDATE selection SET median_us = median_us / 2");
    for (const char* words : {"diff a.db b.db", "diff t.db t.db --gpu L40S --against L4", "diff a.db t.db --against L4 --gpu L40S"}) {
        CAPTURE(std::string(words));
        const auto result = tool(folder, words);
        CHECK_MESSAGE(result.status == 0, result.err);
        CHECK_MESSAGE(contains(result.out, "A: NVIDIA L40S (compute capability 8.9, 142 SMs); B: NVIDIA L4 ("), result.out);
        CHECK_MESSAGE(contains(result.out, "4 tuned problems in both"), result.out);
        CHECK_MESSAGE(contains(result.out, "geometric mean of 4: 2.000"), result.out);
        const auto as_json = tool(folder, std::string(words) + " --json");
        CHECK(schema_faults("diff.json", as_json.out) == "");
        const json difference = json::parse(as_json.out);
        CHECK(difference["across"]["b"]["device"] == "NVIDIA L4");
        CHECK(difference["timed"] == 4);
    }
    // One GPU on both sides is compared with itself.
    const json same = json::parse(tool(folder, "diff t.db a.db --json").out);
    CHECK(same["across"].is_null());
    CHECK(same["both"] == 4);
    CHECK(same["only_a"] == 4);
    const auto several = tool(folder, "diff t.db t.db --against L4");
    CHECK(several.status == 1);
    CHECK_MESSAGE(contains(several.err, "A has winners of several devices; write more of a name: NVIDIA L4, NVIDIA L40S"), several.err);
    CHECK(tool(folder, "diff a.db a.db --against L4").status == 6);
}

TEST_CASE("forget removes a device, a shape or what was measured anew, and nothing else") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    const fs::path file = folder / "t.db";
    const auto anew = [&] {
        fs::remove(file);
        fill(file);
        REQUIRE(count(file, "measurement") == 24);
        REQUIRE(count(file, "selection") == 16);
    };
    anew();
    // Only counted at first.
    auto result = tool(folder, "forget --gpu L4 --dry-run");
    CHECK_MESSAGE(result.out == "would be forgotten: 12 measurements, 8 decisions, 1 machine profile\n", result.out);
    CHECK(count(file, "measurement") == 24);
    result = tool(folder, "forget --gpu L4");
    CHECK(result.status == 0);
    CHECK_MESSAGE(contains(result.out, "forgotten: 12 measurements, 8 decisions, 1 machine profile; t.db has "), result.out);
    CHECK(count(file, "device") == 1);
    CHECK(count(file, "environment") == 1);
    CHECK(count(file, "machine_rates") == 1);
    CHECK(count(file, "measurement") == 12);
    CHECK(count(file, "winner") == 4);
    CHECK_MESSAGE(tool(folder, "verify").status == 0, tool(folder, "verify").out);
    CHECK(tool(folder, "forget --gpu L4").status == 6);

    anew();
    result = tool(folder, "forget 24 600 600 dtype=bf16 ops=nt");
    CHECK_MESSAGE(contains(result.out, "forgotten: 6 measurements, 4 decisions; "), result.out);
    CHECK(count(file, "problem") == 3);
    CHECK(count(file, "machine_rates") == 2);
    CHECK(tool(folder, "show '24 600 600 dtype=bf16 ops=nt' --gpu L4").status == 6);
    CHECK_MESSAGE(tool(folder, "verify").status == 0, tool(folder, "verify").out);
    result = tool(folder, "forget 24 600 600 dtype=bf16 ops=nt");
    CHECK(result.status == 6);
    CHECK_MESSAGE(contains(result.err, "nothing is known of '24x600x600 dtype=bf16 ops=nt'"), result.err);

    anew();
    result = tool(folder, "forget 8x8x8 --gpu L40S");
    CHECK_MESSAGE(contains(result.out, "forgotten: 3 measurements, 2 decisions; "), result.out);
    CHECK(count(file, "winner") == 7);

    anew();
    const std::string winners = tool(folder, "ls").out;
    result = tool(folder, "forget --remeasured");
    CHECK_MESSAGE(contains(result.out, "forgotten: 8 measurements, 8 decisions that later ones have taken the place of; "), result.out);
    CHECK(count(file, "measurement WHERE median_us > 14.9 AND median_us < 15.1 AND problem_id = 1") == 0);
    CHECK(count(file, "selection WHERE reason = 'the first'") == 0);
    CHECK(tool(folder, "ls").out == winners);
    CHECK_MESSAGE(tool(folder, "verify").status == 0, tool(folder, "verify").out);
    CHECK(contains(tool(folder, "forget --remeasured").out, "forgotten: nothing that later ones have taken the place of; "));

    // What another database still has comes back.
    fs::copy_file(file, folder / "copy.db");
    REQUIRE(tool(folder, "forget --gpu L4").status == 0);
    REQUIRE(tool(folder, "merge copy.db").status == 0);
    CHECK(tool(folder, "ls").out == winners);
}

TEST_CASE("forget --dry-run counts what would go, and writes nothing") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "full.db");
    const std::string bytes = read_file(folder / "full.db");
    for (const char* what : {"--gpu L4", "--remeasured", "8x8x8", "8x8x8 --gpu L40S --remeasured", "--remeasured --gpu L4"}) {
        CAPTURE(std::string(what));
        const auto counted = tool(folder, fmt::format("forget {} --dry-run --db full.db", what));
        CHECK(counted.status == 0);
        CHECK(read_file(folder / "full.db") == bytes);
        fs::copy_file(folder / "full.db", folder / "t.db", fs::copy_options::overwrite_existing);
        const auto removed = tool(folder, fmt::format("forget {}", what));
        CHECK(removed.status == 0);
        const auto told = [](const std::string& text) { return text.substr(text.find(": "), text.find_first_of(";\n") - text.find(": ")); };
        CHECK(told(counted.out) == told(removed.out));
        CHECK(told(counted.out).size() > 10);
    }
}

TEST_CASE("forget wants to be told what, and leaves a database that it can't write to") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "t.db");
    const std::string bytes = read_file(folder / "t.db");
    const auto nothing = tool(folder, "forget");
    CHECK(nothing.status == 1);
    CHECK_MESSAGE(contains(nothing.err, "'forget' needs a shape, --gpu or --remeasured"), nothing.err);
    CHECK(tool(folder, "forget 8x8").status == 1);
    CHECK(tool(folder, "forget --gpu H2OO").status == 6);
    CHECK(tool(folder, "forget 9x9x9").status == 6);
    CHECK(tool(folder, "forget 8x8x8 --db none.db").status == 5);
    CHECK(read_file(folder / "t.db") == bytes);
    CHECK_FALSE(fs::exists(folder / "none.db"));
}
