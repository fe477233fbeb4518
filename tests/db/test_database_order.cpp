// The newest row is the one that was written last, whatever the clock said; merging keeps to that, in every order.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <utility>

#include "db/store/merge.h"
#include "db/store/record_text.h"
#include "db/store/records.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

constexpr std::int64_t kThirtyYears = 1'000'000'000;

TuningDatabase open(const std::filesystem::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    return database;
}

void execute(const std::filesystem::path& file, const std::string& sql) {
    SQLite::Database(file, SQLite::OPEN_READWRITE).exec(sql);
}

TuningRecord decision(int width, std::int64_t time, const std::string& origin = "user") {
    return {.kind = TuningRecord::Kind::selection,
            .environment = environment_of("NVIDIA H200"),
            .problem = problem_of("64 64 64"),
            .config = tiled_config(width),
            .time = time,
            .origin = origin};
}

std::vector<OrderedRow> rows(const std::vector<std::pair<std::string, int>>& list) {
    std::vector<OrderedRow> rows;
    for (const auto& [content, time] : list) rows.push_back({.content = content, .time = time});
    return rows;
}

std::string text(const std::vector<OrderedRow>& rows) {
    std::string text;
    for (const auto& row : rows) text += row.content;
    return text;
}

std::string merged(const std::vector<OrderedRow>& x, const std::vector<OrderedRow>& y) {
    return text(merged_order(x, y));
}

}  // namespace

TEST_CASE("what is written after the clock was set back is the newest: decisions, measurements, views, exports") {
    // Ahead by thirty years, before 1970, and at the ends of what can be written.
    for (const std::int64_t shift : {kThirtyYears, -3 * kThirtyYears, std::int64_t{200'000'000'000}}) {
        CAPTURE(shift);
        const TemporaryDirectory directory;
        const auto file = directory / "tmm.db";
        const auto problem = problem_of("64 64 64");
        auto database = open(file);
        database.record(problem, tiled_config(16), {}, measured(10, "aa"));
        database.record(problem, tiled_config(32), {}, measured(20, "bb"));
        database.decide(problem, {}, {.config = tiled_config(32), .median_us = 20});
        execute(file,
                fmt::format("UPDATE selection SET decided_at = decided_at + {0}; UPDATE measurement SET measured_at = measured_at + {0}",
                            shift));
        database.record(problem, tiled_config(16), {}, measured(9, "aa"));
        auto other = measured(8, "cc");
        other.error_ratio = 0.5;
        database.record(problem, tiled_config(16), {}, other);
        database.decide(problem, {}, {.config = tiled_config(16), .median_us = 8});

        CHECK(database.decision(problem)->config == tiled_config(16));
        REQUIRE(database.winners().size() == 1);
        CHECK(database.winners()[0].config == tiled_config(16));
        CHECK(database.winners()[0].error_ratio == 0.5);
        const auto measurements = database.measurements(problem);
        REQUIRE(measurements.size() == 3);
        CHECK(measurements[0].measurement.median_us == 8);
        CHECK(measurements[1].measurement.median_us == 9);
        CHECK(measurements[2].measurement.median_us == 20);
        const auto records = database.records();
        REQUIRE(records.size() == 6);
        CHECK(records[0].measurement.median_us == 10);
        CHECK(records[3].measurement.median_us == 8);
        CHECK(newest_decisions(records).at(0).config == tiled_config(16));
        CHECK(database.verify().empty());
        SQLite::Database raw(file);
        CHECK(raw.execAndGet("SELECT block_m FROM winner").getInt() == 16);
        CHECK(raw.execAndGet("SELECT error_ratio FROM winner").getDouble() == 0.5);

        // The records of an export count in its order, too.
        TuningDatabase imported = open(directory / "imported.db");
        imported.insert(parse_records(to_csv(records), "export"));
        CHECK(imported.decision(problem)->config == tiled_config(16));
        CHECK(to_json(imported.records()) == to_json(records));
    }
}

TEST_CASE("the same decision again, with another between, is the newest again") {
    const TemporaryDirectory directory;
    auto database = open(directory / "tmm.db");
    const auto problem = problem_of("64 64 64");
    for (const int width : {16, 32, 16}) database.decide(problem, {}, {.config = tiled_config(width), .median_us = 5});
    CHECK(database.decision(problem)->config == tiled_config(16));
    database.record(problem, tiled_config(8), {}, measured(5, "aa"));
    database.record(problem, tiled_config(8), {}, {.outcome = Outcome::wrong_result, .kernel_hash = "aa"});
    database.record(problem, tiled_config(8), {}, measured(5, "aa"));
    CHECK(database.measurements(problem).at(0).measurement.outcome == Outcome::ok);
}

TEST_CASE("dates never go back where a clock was set back, and what is replaced within a second is older") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    const auto problem = problem_of("64 64 64");
    auto database = open(file);
    database.record(problem, tiled_config(8), {}, measured(5, "aa"));
    database.decide(problem_of("8 8 8"), {}, {.config = tiled_config(16), .median_us = 5});
    execute(file, "UPDATE selection SET decided_at = decided_at + 3600; UPDATE measurement SET measured_at = measured_at + 3600");
    for (const int width : {32, 16, 8}) database.decide(problem, {}, {.config = tiled_config(width), .median_us = 5});
    for (const double us : {7, 6, 5}) database.record(problem, tiled_config(16), {}, measured(us, "aa"));
    std::vector<std::int64_t> measured_at, decided_at;
    for (const TuningRecord& record : database.records())
        (record.kind == TuningRecord::Kind::measurement ? measured_at : decided_at).push_back(record.time);
    for (const auto& times : {measured_at, decided_at}) {
        REQUIRE(times.size() == 4);
        CHECK(times[1] >= times[0]);
        CHECK(times[2] > times[1]);
        CHECK(times[3] > times[2]);
    }
    auto merged = open(directory / "merged.db");
    merged.merge(file);
    CHECK(merged.decision(problem)->config == tiled_config(8));
    CHECK(merged.measurements(problem).at(0).measurement.median_us == 5);
}

TEST_CASE("an older copy of a database brings back nothing that was decided anew since") {
    const TemporaryDirectory directory;
    const auto problem = problem_of("64 64 64");
    open(directory / "old.db").insert({decision(32, 3 * kThirtyYears)});
    std::filesystem::copy_file(directory / "old.db", directory / "new.db");
    auto database = open(directory / "new.db");
    database.decide(problem, {}, {.config = tiled_config(16), .median_us = 8});
    CHECK(database.merge(directory / "old.db").selections == 0);
    CHECK(database.decision(problem)->config == tiled_config(16));
    auto old = open(directory / "old.db");
    CHECK(old.merge(directory / "new.db").selections == 1);
    CHECK(old.decision(problem)->config == tiled_config(16));
}

TEST_CASE("of decisions made apart the later one counts, whichever database takes in the other, and a new one counts more") {
    const TemporaryDirectory directory;
    const auto problem = problem_of("64 64 64");
    const auto fill = [&](const std::string& name, const std::vector<TuningRecord>& records) {
        open(directory / name).insert(records);
        return directory / name;
    };
    struct Pair {
        TuningRecord a, b;
        int winner;
    };
    for (const auto& [a, b, winner] :
         {Pair{decision(16, 100), decision(32, 200), 32}, Pair{decision(16, 200), decision(32, 100), 16},
          Pair{decision(16, -200), decision(32, -100), 32}, Pair{decision(16, 100), decision(32, 200, "shipped"), 16}}) {
        const auto first = fill("a.db", {a}), second = fill("b.db", {b});
        auto one = open(first), other = open(second);
        const auto before = open(second).records();
        CHECK(one.merge(second).selections == 1);
        other.insert({a});
        CHECK(one.decision(problem)->config == tiled_config(winner));
        CHECK(other.decision(problem)->config == tiled_config(winner));
        CHECK(to_csv(one.records()) == to_csv(other.records()));
        CHECK(one.merge(second).selections == 0);
        CHECK(to_csv(one.records()) == to_csv(other.records()));
        one.decide(problem, {}, {.config = tiled_config(8), .median_us = 8});
        CHECK(one.decision(problem)->config == tiled_config(8));
        CHECK(one.verify().empty());
        for (const char* name : {"a.db", "b.db"}) std::filesystem::remove(directory / name);
    }
}

TEST_CASE("merging orders rows by time where no database knows more, and by what each knows where clocks went back") {
    CHECK(merged(rows({{"a", 1}, {"c", 3}}), rows({{"b", 2}, {"d", 4}})) == "abcd");
    CHECK(merged(rows({}), rows({{"b", 2}})) == "b");
    // Where times are equal, the content decides, in either direction.
    CHECK(merged(rows({{"a", 1}}), rows({{"b", 1}})) == "ab");
    CHECK(merged(rows({{"b", 1}}), rows({{"a", 1}})) == "ab");
    // One of the databases wrote b after a.
    CHECK(merged(rows({{"a", 9}}), rows({{"a", 9}, {"b", 2}})) == "ab");
    CHECK(merged(rows({{"a", 9}, {"b", 2}}), rows({{"a", 9}})) == "ab");
    // Where rows are equal, the last place counts.
    CHECK(merged(rows({{"a", 2}, {"b", 1}, {"a", 2}}), rows({})) == "ba");
    // What one database wrote within a second it orders as another would.
    CHECK(merged(rows({{"c", 1}, {"a", 1}, {"e", 2}}), rows({{"b", 1}})) == "abce");
    CHECK(merged(rows({{"c", 1}, {"a", 1}, {"e", 2}}), rows({})) == "cae");
}

TEST_CASE("merging is commutative and idempotent, and associative") {
    std::mt19937 random(7);
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    for (int round = 0; round < 2000; ++round) {
        const bool clocks_go_back = round % 2 == 0;
        // Names of all three databases are different; where rows are as store_new() writes and merging places them, they share some. Their
        // clocks are set back there as well, and rows of one second are in any order.
        std::vector<OrderedRow> lists[3];
        for (int i = 0; i < 3; ++i) {
            std::int64_t last = 0;
            bool taken[8] = {};
            for (int j = below(6); j > 0; --j) {
                const int shared = below(8);
                OrderedRow row{.content = fmt::format("{}{}", "ayz"[i], j), .time = below(20)};
                if (!clocks_go_back) {
                    row.time = std::max(row.time, last);
                    if (below(2) == 0 && 2 * shared >= last && !std::exchange(taken[shared], true))
                        row = {.content = fmt::format("s{}", shared), .time = 2 * shared};
                    last = row.time;
                }
                lists[i].push_back(row);
            }
        }
        const auto& [a, b, c] = lists;
        CHECK(merged(a, b) == merged(b, a));
        CHECK(merged(merged_order(a, b), b) == merged(a, b));
        CHECK(merged(b, merged_order(a, b)) == merged(a, b));
        CHECK(merged(merged_order(a, b), c) == merged(a, merged_order(b, c)));
        if (!clocks_go_back && !a.empty() && !b.empty() && a != b) CHECK(merged(a, b) == text(time_order(a, b)));
    }
}
