// A database file that has no end, or texts of megabytes, holds nobody up: a query has a limit, and so has what it reads.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "db/store/connection.h"
#include "db/store/records.h"
#include "db/store/time_limit.h"
#include "tests/support/api_testing.h"
#include "tests/support/database_fixture.h"
#include "tests/support/hostile_files.h"
#include "tests/support/tuner_testing.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kRows = 5;
constexpr const char* kEndlessQuery = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r";

void make(const fs::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    const Environment environment{.device = host_device_info()};
    database.set_environment(environment);
    for (int row = 0; row < kRows; ++row) {
        const auto problem = problem_of(fmt::format("64 64 {}", row + 1));
        database.record(problem, tiled_config(16), {}, measured(10 + row));
        database.decide(problem, {}, {.config = tiled_config(16), .median_us = 10.0 + row});
        database.announce(problem, tiled_config(8), "tmm_tiled");
    }
    database.set_environment(environment_of("NVIDIA H200"));
    database.record(rates_of_h200());
}

// Made once, since each of its rows waits for the disk.
void fill(const fs::path& file) {
    static const std::string bytes = [] {
        const TemporaryDirectory directory;
        make(directory / "t.db");
        return read_file(directory / "t.db");
    }();
    write_file(file, bytes);
}

void make_endless(const fs::path& file, const std::string& name) {
    std::string bytes = read_file(file);
    tmm::testing::make_endless(bytes, root_page(file, name));
    write_file(file, bytes);
}

// The Error that the action throws; empty where it throws none.
template <typename Action>
std::string failure(Action&& action, ExitStatus status = ExitStatus::database) {
    try {
        action();
    } catch (const Error& error) {
        CHECK(error.status() == status);
        CHECK_FALSE(error.remedy().empty());
        return error.what();
    }
    return {};
}

void read_all(const fs::path& file, const Patience& patience) {
    TuningDatabase database(file, Mode::read_write, patience);
    database.set_environment({.device = host_device_info()});
    (void)database.winners();
    (void)database.measurements(problem_of("64 64 1"));
    (void)database.unfinished_runs();
    (void)database.records();
    (void)database.known_rates(host_device_info());
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

const char* const kTables[] = {"selection", "measurement", "problem", "config",       "device",       "environment",
                               "policy",    "in_flight",   "outcome", "compute_mode", "machine_rates"};
const char* const kIndices[] = {"problem_identity",     "config_identity",           "measurement_by_problem",
                                "selection_by_problem", "sqlite_autoindex_device_1", "sqlite_autoindex_outcome_1"};

}  // namespace

TEST_CASE("whichever table or index has no end: every reader comes to one, and verify() says that it is damaged") {
    int ended = 0;
    const auto look = [&](const char* name) {
        CAPTURE(std::string(name));
        const TemporaryDirectory directory;
        const auto file = directory / "t.db";
        fill(file);
        make_endless(file, name);
        const Patience patience{.total = milliseconds(300)};
        if (failure([&] { read_all(file, patience); }) != "") ++ended;
        std::string faults;
        const auto refusal = failure([&] { faults = joined(TuningDatabase(file, Mode::read_write, patience).verify()); });
        CHECK_MESSAGE((refusal != "" || faults != ""), "nothing was found");
    };
    for (const char* name : kTables) look(name);
    for (const char* name : kIndices) look(name);
    // A table that is only looked up by its key has an end for its readers.
    CHECK(ended >= 2);
}

TEST_CASE("a multiplication does without a database that has no end, and says so once") {
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    fill(file);
    make_endless(file, "selection");
    const api_testing::LogCapture log;
    tmmHandle_t handle = nullptr;
    REQUIRE(tmmCreate(&handle, TMM_DEVICE_HOST, file.c_str()) == TMM_STATUS_SUCCESS);
    const std::vector<float> a(4, 2.0F), b(4, 3.0F);
    std::vector<float> c(4, -1.0F);
    const float one = 1, zero = 0;
    CHECK(tmmHostSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 2, 2, 2, &one, a.data(), 2, b.data(), 2, &zero, c.data(), 2) ==
          TMM_STATUS_SUCCESS);
    CHECK(c == std::vector<float>(4, 12.0F));
    tmmDestroy(handle);
    REQUIRE(log.lines.size() == 1);
    CHECK_MESSAGE(log.lines[0].find("rows of 'selection' come again") != std::string::npos, log.lines[0]);
}

TEST_CASE("a query without end is ended by the time that all may take, and by the processor's time that the file accounts for") {
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    fill(file);
    for (const Patience& patience : {Patience{.total = milliseconds(200)}, Patience{}}) {
        TimeLimit limit(patience, file);
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        limit.attach(raw.getHandle());
        const auto ended = [&](const char* sql) {
            try {
                raw.exec(sql);
            } catch (const SQLite::Exception& error) {
                return error.getErrorCode() == SQLITE_INTERRUPT;
            }
            return false;
        };
        raw.exec("SELECT count(*) FROM selection");
        CHECK_FALSE(limit.was_exceeded());
        CHECK(ended(kEndlessQuery));
        CHECK(limit.was_exceeded());
        const std::string why = failure([&] { limit.fail(file); });
        CHECK((why.find("any sound database of this size") == std::string::npos) == (patience.total > milliseconds(0)));
        CHECK((why.find("more than 0.2 s of processor time") != std::string::npos) == (patience.total > milliseconds(0)));
        // Each query has its own time, or all of them have one.
        CHECK(ended("WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 100000) SELECT max(x) FROM r") ==
              (patience.total > milliseconds(0)));
    }
}

TEST_CASE("a machine that is busy is called busy, and its database is not called damaged") {
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    fill(file);
    const auto ends = [&](int rows) {
        TimeLimit limit({.total = milliseconds(100)}, file);
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        limit.attach(raw.getHandle());
        // It waits as it would for a processor or for a disk.
        sqlite3_create_function(
            raw.getHandle(), "waits", 1, SQLITE_UTF8, nullptr,
            [](sqlite3_context* context, int, sqlite3_value**) {
                std::this_thread::sleep_for(milliseconds(2));
                sqlite3_result_int(context, 1);
            },
            nullptr, nullptr);
        const std::string query = fmt::format("WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT {}) ", rows);
        return failure([&] { guarded(file, limit, [&] { raw.exec(query + "SELECT sum(waits(x)) FROM r"); }); });
    };
    CHECK(ends(75) == "");
    const std::string why = ends(100'000);
    CHECK_MESSAGE(why.find("the machine is busy: reading was ended after") != std::string::npos, why);
    CHECK_MESSAGE(why.find("damaged") == std::string::npos, why);
}

TEST_CASE("the tools end with the status of a database, whichever table has no end") {
    for (const char* name : {"selection", "measurement", "in_flight"}) {
        CAPTURE(std::string(name));
        tuner_testing::TunerFolder folder("4 4 4\n");
        fill(folder.database());
        make_endless(folder.database(), name);
        for (const char* arguments : {"export --csv", "verify", "show 64x64x1"}) {
            const auto tool =
                run_command(fmt::format("'{}/tools/tmm-db' {} --db '{}'", TMM_BINARY_DIR, arguments, folder.database().string()));
            CHECK((tool.status == 5 || (std::string_view(name) == "in_flight" && arguments != std::string_view("verify"))));
        }
        if (std::string_view(name) != "in_flight") continue;
        const auto tuned = folder.tune();
        CHECK(tuned.status == 5);
        CHECK_MESSAGE(tuned.err.find(folder.database().string()) != std::string::npos, tuned.err);
    }
}

TEST_CASE("Ctrl-C ends a query, and waiting for a lock") {
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    fill(file);
    std::atomic<int> asked = 0;
    const Patience patience{.lock = std::chrono::hours(1), .stop = [&] { return ++asked > 0; }};
    {
        TimeLimit limit(patience, "a file that accounts for no time");
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        limit.attach(raw.getHandle());
        CHECK_THROWS_WITH(raw.exec(kEndlessQuery), "interrupted");
        CHECK(asked == 1);
    }
    asked = 0;
    SQLite::Database holder(file, SQLite::OPEN_READWRITE);
    holder.exec("BEGIN EXCLUSIVE");
    CHECK(failure([&] { read_all(file, patience); }).find("locked") != std::string::npos);
    CHECK(asked == 1);
    // Nobody is asked about what takes no time.
    asked = 0;
    holder.exec("ROLLBACK");
    CHECK(failure([&] { read_all(file, patience); }) == "");
    CHECK(asked == 0);
}

TEST_CASE("texts of any length cost their row at most, and are not read") {
    struct Text {
        const char* table;
        const char* column;
        bool of_winner;
    };
    const api_testing::LogCapture log;
    for (const auto& [table, column, of_winner] :
         {Text{"device", "name", true}, Text{"selection", "reason", true}, Text{"selection", "search_hash", false},
          Text{"selection", "origin", true}, Text{"measurement", "detail", false}, Text{"measurement", "kernel_name", false},
          Text{"measurement", "kernel_hash", false}, Text{"policy", "data", true}, Text{"in_flight", "kernel_name", false},
          Text{"in_flight", "boot_id", false}, Text{"outcome", "name", false}, Text{"compute_mode", "name", false}}) {
        for (const int length : {10'000, 20'000'000}) {
            CAPTURE(fmt::format("{} bytes of {}.{}", length, table, column));
            const TemporaryDirectory directory;
            const auto file = directory / "t.db";
            fill(file);
            {
                SQLite::Database raw(file, SQLite::OPEN_READWRITE);
                raw.exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF");
                raw.exec(
                    fmt::format("UPDATE {} SET {} = replace(hex(zeroblob({})), '00', 'xx') WHERE rowid = 1", table, column, length / 2));
            }
            const bool too_long_for_a_row = length > 100'000;
            const auto read = failure([&] {
                TuningDatabase database(file, Mode::read_write);
                const auto winners = database.winners();
                // Device and policy are every row's.
                const std::size_t lost = !of_winner ? 0 : std::string_view(table) == "selection" ? 1 : kRows;
                CHECK(winners.size() == kRows - lost);
            });
            if (!too_long_for_a_row) CHECK(read == "");
            std::string faults;
            const auto refusal = failure([&] { faults = joined(TuningDatabase(file, Mode::read_write).verify()); });
            CHECK(refusal + faults != "");
            CHECK((refusal + faults).size() < 10'000);
        }
    }
}

TEST_CASE("statements of megabytes in a schema are refused, not parsed") {
    const std::string names = "replace(hex(zeroblob(300000)), '00', ',x')";
    for (const std::string& sql :
         {fmt::format("INSERT INTO sqlite_schema VALUES ('view', 'mine', 'mine', 0, 'CREATE VIEW mine AS SELECT 1' || {})", names),
          fmt::format(
              "INSERT INTO sqlite_schema VALUES ('trigger', 't', 'device', 0, 'CREATE TRIGGER t AFTER INSERT ON device BEGIN SELECT 1'"
              " || {} || '; END')",
              names),
          fmt::format("UPDATE sqlite_schema SET sql = sql || '/*' || {} || '*/' WHERE name = 'device'", names),
          fmt::format("UPDATE sqlite_schema SET name = {} WHERE name = 'winner'", names)}) {
        CAPTURE(sql);
        const TemporaryDirectory directory;
        const auto file = directory / "t.db";
        fill(file);
        SQLite::Database(file, SQLite::OPEN_READWRITE).exec("PRAGMA writable_schema = ON; " + sql);
        const auto refusal = failure([&] { TuningDatabase(file, Mode::read_write).winners(); });
        CHECK_MESSAGE(refusal.find("damaged") != std::string::npos, refusal);
        CHECK(refusal.size() < 10'000);
    }
}
