// Tests that code in a database file's schema besides tmm's own tables is never run, and that verify() names it.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "base/error.h"
#include "db/store/records.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

void fill(const std::filesystem::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    database.record(problem_of("64 64 64"), tiled_config(16), {}, measured(10));
    database.decide(problem_of("64 64 64"), {}, {.config = tiled_config(16), .median_us = 10});
}

void plant(const std::filesystem::path& file, const std::string& sql) {
    SQLite::Database raw(file, SQLite::OPEN_READWRITE);
    raw.exec("PRAGMA foreign_keys = OFF");
    raw.exec(sql);
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

// Everything that a tuner and a runtime do with a database.
void use(const std::filesystem::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    const auto problem = problem_of("65 64 64");
    database.announce(problem, tiled_config(32), "tmm_tiled");
    database.record(problem, tiled_config(32), {}, measured(9));
    database.announce(problem, tiled_config(8), "tmm_tiled");
    CHECK(database.unfinished_runs().size() == 1);
    database.withdraw(problem, tiled_config(8));
    database.decide(problem, {}, {.config = tiled_config(32), .median_us = 9});
    CHECK(database.measurements(problem).size() == 1);
    CHECK(database.decision(problem)->config == tiled_config(32));
    CHECK(database.winners().size() == 2);
    CHECK(database.records().size() == 4);
    TuningRecord record{.kind = TuningRecord::Kind::selection,
                        .environment = environment_of("NVIDIA H200"),
                        .problem = problem_of("66 64 64"),
                        .config = tiled_config(4)};
    CHECK(database.insert({record}).selections == 1);
    CHECK(database.winners().size() == 3);
}

// Brings a file of an older version, with the same planted in it, up to date.
void use_older_version(const std::filesystem::path& file, const std::string& sql) {
    SQLite::Database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(read_file(std::filesystem::path(TMM_SOURCE_DIR) / "tests/data/database_v7.sql"));
    plant(file, sql);
    TuningDatabase database(file, Mode::read_write);
    CHECK(database.winners().size() == 2);
    CHECK(database.records().size() == 28);
}

}  // namespace

TEST_CASE("triggers and a stranger's views, tables and indices are not run, and verify() names them") {
    struct Planted {
        const char* sql;
        const char* line;
    };
    for (const auto& [sql, line] :
         {Planted{"CREATE TRIGGER t AFTER INSERT ON measurement BEGIN DELETE FROM selection; END", "trigger 't' on 'measurement'"},
          Planted{"CREATE TRIGGER t BEFORE INSERT ON problem BEGIN SELECT RAISE(ABORT, 'no'); END", "trigger 't' on 'problem'"},
          Planted{"CREATE TRIGGER t AFTER DELETE ON in_flight BEGIN UPDATE measurement SET median_us = 1e-3; END",
                  "trigger 't' on 'in_flight'"},
          Planted{"CREATE TRIGGER t AFTER INSERT ON selection BEGIN UPDATE selection SET config_id = 1; END", "trigger 't' on 'selection'"},
          Planted{"CREATE TRIGGER t INSTEAD OF DELETE ON winner BEGIN DELETE FROM measurement; END", "trigger 't' on 'winner'"},
          Planted{"DROP VIEW current_selection; CREATE VIEW current_selection AS SELECT 1 AS id, 1 AS environment_id, 1 AS device_id, "
                  "1 AS problem_id, 0 AS compute, 1 AS policy_id, 1 AS config_id, 1e-3 AS median_us, 1 AS candidates, 'mine' AS reason, "
                  "'' AS search_hash, 'user' AS origin, 0 AS decided_at",
                  "view 'current_selection'"},
          Planted{"DROP VIEW winner; CREATE VIEW winner AS SELECT load_extension('x')", "view 'winner'"},
          Planted{"DROP VIEW winner", "view 'winner'"}, Planted{"DROP VIEW IF EXISTS config_fields", "view 'config_fields'"},
          Planted{"DROP VIEW IF EXISTS problem_fields; CREATE VIEW problem_fields AS SELECT 1 AS id", "view 'problem_fields'"},
          Planted{"DROP VIEW IF EXISTS config_fields; CREATE VIEW config_fields AS SELECT 1 AS id, '$.family' AS family",
                  "view 'config_fields'"},
          Planted{"CREATE VIEW mine AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT * FROM r", "view 'mine'"},
          Planted{"CREATE TABLE notes (text TEXT)", "table 'notes'"},
          Planted{"CREATE TABLE endless (x, y AS (zeroblob(x)) STORED)", "table 'endless'"},
          Planted{"CREATE VIRTUAL TABLE words USING fts5(x)", "table 'words'"},
          Planted{"CREATE INDEX mine ON measurement (median_us)", "index 'mine' on 'measurement'"},
          Planted{"DROP INDEX problem_identity", "index 'problem_identity' on 'problem'"},
          Planted{"UPDATE outcome SET name = 'mine' WHERE value = 1", "outcome 1: is called 'mine'"}}) {
        CAPTURE(std::string(sql));
        const TemporaryDirectory directory;
        const auto file = directory / "tmm.db";
        fill(file);
        CHECK(joined(TuningDatabase(file, Mode::read_write).verify()) == "");
        plant(file, sql);
        use(file);
        const auto faults = joined(TuningDatabase(file, Mode::read_write).verify());
        CHECK_MESSAGE(faults.find(line) != std::string::npos, faults);
        const auto tool = run_command(fmt::format("'{}/tools/tmm-db' verify --db '{}'", TMM_BINARY_DIR, file.string()));
        CHECK(tool.status == 5);
        CHECK(tool.out == faults);
        use_older_version(directory / "older.db", sql);
    }
}

TEST_CASE("a table of tmm's that computes something is refused unread, whatever the version") {
    const std::string table =
        "CREATE TABLE copy AS SELECT * FROM measurement; DROP VIEW winner; DROP VIEW candidate; DROP TABLE measurement; ";
    for (const std::string& sql : {std::string("ALTER TABLE measurement ADD COLUMN extra INTEGER AS (length(hex(detail))) VIRTUAL"),
                                   std::string("CREATE INDEX mine ON measurement (length(hex(detail)))"),
                                   std::string("CREATE INDEX mine ON selection (id) WHERE length(hex(reason)) > 3"),
                                   table + "CREATE VIRTUAL TABLE measurement USING fts5(x)",
                                   table + "CREATE TABLE measurement (id INTEGER PRIMARY KEY, median_us REAL AS (1e-3) STORED)"}) {
        CAPTURE(std::string(sql));
        const TemporaryDirectory directory;
        const auto file = directory / "tmm.db";
        fill(file);
        plant(file, sql);
        for (const int version : {TuningDatabase::kVersion, TuningDatabase::kVersion - 1}) {
            plant(file, fmt::format("PRAGMA user_version = {}", version));
            const auto bytes = read_file(file);
            const auto tool = run_command(fmt::format("'{}/tools/tmm-db' verify --db '{}'", TMM_BINARY_DIR, file.string()));
            CHECK(tool.status == 5);
            CHECK_MESSAGE(tool.err.find("nothing in it was run") != std::string::npos, tool.err);
            CHECK_THROWS_AS(TuningDatabase(file, Mode::read_write), Error);
            CHECK(read_file(file) == bytes);
        }
    }
}

TEST_CASE("a table of tmm's that was changed is refused") {
    for (const char* sql : {"ALTER TABLE measurement ADD COLUMN note TEXT", "ALTER TABLE policy RENAME COLUMN data TO date",
                            "DROP VIEW candidate; DROP VIEW winner; DROP VIEW current_selection; DROP TABLE selection"}) {
        CAPTURE(std::string(sql));
        const TemporaryDirectory directory;
        const auto file = directory / "tmm.db";
        fill(file);
        plant(file, sql);
        CHECK_THROWS_WITH_AS(TuningDatabase(file, Mode::read_write), doctest::Contains("the database is damaged ("), Error);
        CHECK_THROWS_AS(TuningDatabase(file, Mode::read_only), Error);
    }
}

TEST_CASE("ANALYZE, VACUUM and comments change nothing that counts") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    plant(file,
          "ANALYZE; VACUUM; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '-- microseconds', '/* us */ --');");
    CHECK(joined(TuningDatabase(file, Mode::read_write).verify()) == "");
    use(file);
}
