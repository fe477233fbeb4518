// Rows that nobody can use are left out by merge and export, which say so and end with a status of their own; all other rows get through.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "db/store/records.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Three measurements and a decision for each of two problems, and two machine profiles.
void fill(const fs::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    for (const char* shape : {"64 64 64", "96 96 96"}) {
        for (const int width : {8, 16, 32}) database.record(problem_of(shape), tiled_config(width), {}, measured(width));
        database.decide(problem_of(shape), {}, {.config = tiled_config(8), .median_us = 8, .candidates = 3, .runner_up = tiled_config(32)});
    }
    database.record(rates_of_h200());
    database.record(rates_of_h200());
}

void damage(const fs::path& file, const std::string& sql) {
    SQLite::Database(file, SQLite::OPEN_READWRITE).exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; " + sql);
}

CommandResult tool(const fs::path& folder, const std::string& words) {
    return run_command(fmt::format("cd '{}' && TMM_DB=part.db {}/tools/tmm-db {}", folder.string(), TMM_BINARY_DIR, words));
}

struct Damage {
    const char* sql;
    // What is said, and the measurements and decisions that get through.
    const char* said;
    int measurements;
    int decisions;
};

constexpr Damage kDamages[] = {
    {"UPDATE config SET fields = json_set(fields, '$.slice_k', 77) WHERE fields LIKE '%block_m_:8,%'",
     "2 measurements and 2 decisions left out (slice_k is 77, outside 1 … 64)", 4, 0},
    {"UPDATE measurement SET median_us = -4 WHERE id = 1", "1 measurement left out (median_us is", 5, 2},
    {"UPDATE config SET fields = json_set(fields, '$.family', 50) WHERE fields LIKE '%block_m_:32,%'",
     "2 measurements and 2 decisions left out (family is 50, none of its names", 4, 0},
    {"UPDATE selection SET candidates = -1 WHERE id = 2", "1 decision left out (candidates is -1, outside 0", 6, 1},
    {"UPDATE measurement SET config_id = 99 WHERE id > 4", "2 measurements left out (it refers to a row that is missing)", 4, 2},
    {"DELETE FROM problem WHERE fields LIKE '%m_:96,%'", "3 measurements and 1 decision left out (it refers to a row that is missing)", 3,
     1},
    {"DELETE FROM policy", "6 measurements and 2 decisions left out (it refers to a row that is missing)", 0, 0},
};

}  // namespace

TEST_CASE("merge and export say what they leave out, take all else, and end with 2") {
    for (const Damage& damage_ : kDamages) {
        CAPTURE(std::string(damage_.sql));
        const TemporaryDirectory directory;
        const fs::path folder = directory / "";
        fill(folder / "part.db");
        damage(folder / "part.db", damage_.sql);
        const std::string bytes = read_file(folder / "part.db");

        CommandResult result = tool(folder, "merge --db all.db part.db");
        CHECK(result.status == 2);
        CHECK_MESSAGE(contains(result.err, fmt::format("part.db: {}", damage_.said)), result.err);
        CHECK_MESSAGE(contains(result.err, "'tmm-db verify --db part.db' names all"), result.err);
        CHECK_MESSAGE(
            contains(result.out, fmt::format("{} new measurements and {} new decisions", damage_.measurements, damage_.decisions)),
            result.out);
        for (const char* words : {"export --csv", "export --json", "export --csv --winners"}) {
            CAPTURE(std::string(words));
            result = tool(folder, words);
            CHECK(result.status == 2);
            CHECK_MESSAGE(contains(result.err, damage_.said), result.err);
            write_file(folder / "export", result.out);
            const bool winners = contains(words, "winners");
            const TemporaryDirectory other;
            const CommandResult imported = tool(folder, fmt::format("import export --db '{}'", (other / "t.db").string()));
            CHECK_MESSAGE(imported.status == 0, imported.err);
            CHECK_MESSAGE(contains(imported.out,
                                   fmt::format("{} measurements and {} decisions", winners ? 0 : damage_.measurements, damage_.decisions)),
                          imported.out);
        }
        CHECK(read_file(folder / "part.db") == bytes);
        CHECK(tool(folder, "verify").status == 5);
    }
}

TEST_CASE("a file of several that merge takes in does not keep the others out, and a machine profile counts, too") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    for (const char* name : {"a.db", "b.db", "part.db"}) fill(folder / name);
    damage(folder / "a.db", "UPDATE machine_rates SET read_bytes = 1 WHERE id = 2");
    damage(folder / "b.db", "DELETE FROM policy");
    SQLite::Database(folder / "part.db", SQLite::OPEN_READWRITE).exec("UPDATE measurement SET samples = samples + 1");
    const CommandResult result = tool(folder, "merge --db all.db a.db b.db part.db");
    CHECK(result.status == 2);
    CHECK_MESSAGE(contains(result.err, "a.db: 1 machine profile left out (read_bytes is"), result.err);
    CHECK_MESSAGE(contains(result.err, "b.db: 6 measurements and 2 decisions left out"), result.err);
    CHECK_MESSAGE(!contains(result.err, "part.db"), result.err);
    CHECK(contains(result.out, "part.db: 6 new measurements"));
    CHECK(TuningDatabase(folder / "all.db", Mode::read_only).records().size() >= 14);
}

TEST_CASE("sound databases are merged and exported without a word on stderr, and end with 0") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "part.db");
    for (const char* words : {"merge --db all.db part.db", "merge --db all.db part.db", "export --csv", "export --json --winners"}) {
        const CommandResult result = tool(folder, words);
        CHECK(result.status == 0);
        CHECK(result.err == "");
    }
}

TEST_CASE("who shows rows says that some are left out") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "part.db");
    damage(folder / "part.db", "UPDATE config SET fields = json_set(fields, '$.slice_k', 77) WHERE fields LIKE '%block_m_:16,%'");
    for (const char* words : {"show 64x64x64", "candidates 64x64x64", "report --html /dev/null"}) {
        CAPTURE(std::string(words));
        const CommandResult result = tool(folder, words);
        CHECK(result.status == 0);
        CHECK_MESSAGE(contains(result.err, "left out (slice_k is 77, outside 1 … 64)"), result.err);
    }
}
