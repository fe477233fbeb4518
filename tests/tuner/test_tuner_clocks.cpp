// A clock that is wrong costs nothing: tools work before 1970 and after 9999, and a decision that bears a date of the future never goes
// before a later one.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <ctime>

#include "db/store/ranges.h"
#include "db/store/record_text.h"
#include "db/store/records.h"
#include "tests/support/database_fixture.h"
#include "tests/support/tuner_testing.h"

using namespace tmm;
using namespace tmm::testing;
using tuner_testing::TunerFolder;
using Mode = TuningDatabase::Mode;

namespace {

constexpr std::int64_t kYear = 366 * std::int64_t{86'400};

TuningRecord decision(int width, std::int64_t time, bool predicted = false) {
    return {.kind = TuningRecord::Kind::selection,
            .environment = environment_of("NVIDIA H200"),
            .problem = problem_of("64 64 64"),
            .config = tiled_config(width),
            .time = time,
            .predicted = predicted};
}

int winner_of(const std::filesystem::path& file) {
    const auto winners = TuningDatabase(file, Mode::read_write).winners();
    REQUIRE(winners.size() == 1);
    return winners[0].config.block_m;
}

void store(const std::filesystem::path& file, const std::vector<TuningRecord>& records) {
    for (const TuningRecord& record : records) TuningDatabase(file, Mode::read_write_create).insert({record});
}

CommandResult tool(const TunerFolder& folder, const std::string& clock, const std::string& arguments) {
    return run_command(fmt::format("LD_PRELOAD='{}/tests/clock/preloaded_clock.so' TMM_TEST_CLOCK={} '{}/tools/tmm-db' {} --db '{}'",
                                   TMM_BINARY_DIR, clock, TMM_BINARY_DIR, arguments, folder.database().string()));
}

}  // namespace

TEST_CASE("a decision of a clock that was ahead goes before no other that is merged, imported or predicted after it") {
    const std::int64_t now = std::time(nullptr);
    for (const std::int64_t ahead : {now + kYear, now + 100 * kYear, kLatestTime}) {
        for (const bool predicted : {false, true}) {
            CAPTURE(ahead);
            CAPTURE(predicted);
            const TemporaryDirectory directory;
            const auto wrong = directory / "wrong.db", right = directory / "right.db", both = directory / "both.db";
            store(wrong, {decision(4, ahead, predicted)});
            store(right, {decision(8, now - 1000, predicted)});
            // Whichever takes in the other, and again.
            TuningDatabase(both, Mode::read_write_create).merge(wrong);
            TuningDatabase(both, Mode::read_write).merge(right);
            CHECK(winner_of(both) == 8);
            TuningDatabase(both, Mode::read_write).merge(wrong);
            CHECK(winner_of(both) == 8);
            TuningDatabase(right, Mode::read_write).merge(wrong);
            CHECK(winner_of(right) == 8);
            TuningDatabase(wrong, Mode::read_write).merge(both);
            CHECK(winner_of(wrong) == 8);
            // A record that is made now, as a prediction is.
            const auto fresh = directory / "fresh.db";
            store(fresh, {decision(4, ahead, predicted), decision(16, now, predicted)});
            CHECK(winner_of(fresh) == 16);
        }
    }
}

TEST_CASE("what was written after it here stays after it, whichever dates both have") {
    const std::int64_t now = std::time(nullptr);
    const TemporaryDirectory directory;
    const auto file = directory / "t.db", other = directory / "other.db";
    {
        TuningDatabase database(file, Mode::read_write_create);
        database.set_environment(environment_of("NVIDIA H200"));
        database.insert({decision(4, now + 50 * kYear)});
        database.decide(problem_of("64 64 64"), {}, {.config = tiled_config(8), .median_us = 10});
    }
    CHECK(winner_of(file) == 8);
    store(other, {decision(2, now - 5000)});
    TuningDatabase(other, Mode::read_write).merge(file);
    CHECK(winner_of(other) == 8);
    // Where the clocks of two decisions were ahead by years, each merge says the same.
    const auto x = directory / "x.db", y = directory / "y.db";
    store(x, {decision(16, now + 50 * kYear)});
    store(y, {decision(32, now + 60 * kYear)});
    const auto xy = directory / "xy.db", yx = directory / "yx.db";
    for (const auto& file_of_x : {x, y}) TuningDatabase(xy, Mode::read_write_create).merge(file_of_x);
    for (const auto& file_of_y : {y, x}) TuningDatabase(yx, Mode::read_write_create).merge(file_of_y);
    CHECK(winner_of(xy) == winner_of(yx));
}

TEST_CASE("predictions are stored as the newest rows and move no others, whatever date those have") {
    TunerFolder folder("4 4 4\n");
    REQUIRE(folder.tune().status == 0);
    folder.query("UPDATE selection SET decided_at = decided_at + 3600");
    const std::string before = folder.query("SELECT group_concat(id || ' ' || decided_at) FROM selection");
    folder.set_shapes("101 101 101\n");
    CHECK(folder.tune({"--budget", "0.001"}).status == 6);
    CHECK(folder.query("SELECT group_concat(id || ' ' || decided_at) FROM selection WHERE NOT predicted") == before);
    CHECK(folder.query("SELECT predicted FROM selection ORDER BY id DESC") == "1");
}

TEST_CASE("tools work whatever the clock says, and what is decided last wins") {
    TunerFolder folder("4 4 4\n");
    folder.environment["LD_PRELOAD"] = std::string(TMM_BINARY_DIR) + "/tests/clock/preloaded_clock.so";
    REQUIRE(std::filesystem::exists(folder.environment["LD_PRELOAD"]));
    int decisions = 0, size = 100;
    // The clocks stand in 2100, in 1969, before the year 1, and after 9999.
    for (const char* clock : {"4102444800", "-1", "-62135596801", "253402300800"}) {
        CAPTURE(std::string(clock));
        folder.environment["TMM_TEST_CLOCK"] = clock;
        const auto tuned = folder.tune({"--remeasure"});
        CHECK_MESSAGE(tuned.status == 0, tuned.err);
        const int now = folder.count("SELECT count(*) FROM selection");
        CHECK(now > decisions);
        decisions = now;
        const std::int64_t said = std::clamp<std::int64_t>(std::stoll(clock), kEarliestTime, kLatestTime);
        CHECK(folder.query("SELECT decided_at FROM current_selection WHERE NOT predicted") == std::to_string(said));
        CHECK(folder.count(
                  "SELECT (SELECT max(id) FROM selection WHERE NOT predicted) = (SELECT id FROM current_selection WHERE NOT predicted)") ==
              1);
        for (const char* arguments : {"ls", "show 4x4x4", "show 4x4x4 --json", "candidates 4x4x4", "export --json", "verify"}) {
            CAPTURE(std::string(arguments));
            const auto shown = tool(folder, clock, arguments);
            CHECK_MESSAGE(shown.status == 0, shown.err);
            CHECK(shown.err == "");
        }
        // A budget that reaches nothing leaves a prediction, which bears a date as well.
        folder.set_shapes(fmt::format("{0} {0} {0}\n", ++size));
        const auto predicted = folder.tune({"--budget", "0.001"});
        CHECK_MESSAGE(predicted.status != 5, predicted.err);
        CHECK(folder.count("SELECT count(*) FROM selection WHERE predicted") == size - 100);
        decisions = folder.count("SELECT count(*) FROM selection");
        folder.set_shapes("4 4 4\n");
        const auto report = tool(folder, clock, fmt::format("report --html '{}'", (folder.path / "report.html").string()));
        CHECK_MESSAGE(report.status == 0, report.err);
    }
    folder.environment.erase("TMM_TEST_CLOCK");
    CHECK(folder.tune({"--remeasure"}).status == 0);
    CHECK(folder.count("SELECT abs(decided_at - unixepoch()) < 86400 FROM current_selection WHERE NOT predicted") == 1);
}
