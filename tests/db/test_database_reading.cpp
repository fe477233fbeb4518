// Whoever only reads a database writes nothing: an older version is not migrated, what a killed writer left is not undone in the file.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "db/store/records.h"
#include "runtime/device/device.h"
#include "runtime/select/read_winners.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;
namespace fs = std::filesystem;

namespace {

void fill(const fs::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment({.device = host_device_info()});
    for (const char* shape : {"16x16x16", "1x64x32 ops=nt"}) {
        database.record(problem_of(shape), tiled_config(8), {}, measured(3));
        database.decide(problem_of(shape), {}, {.config = tiled_config(8), .median_us = 3, .candidates = 1, .reason = "the only one"});
    }
}

void load_dump(const fs::path& file, int version) {
    SQLite::Database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(read_file(fs::path(TMM_SOURCE_DIR) / fmt::format("tests/data/database_v{}.sql", version)));
}

// Leaves a journal with which the file goes back to two decisions.
void kill_in_a_transaction(const fs::path& file) {
    const pid_t child = fork();
    if (child == 0) {
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        // A cache of one page makes it write before it commits.
        raw.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE measurement SET samples = 1; DELETE FROM selection;");
        for (int i = 0; i < 200; ++i) raw.exec("INSERT INTO policy (cold_l2, graph, data) VALUES (1, 1, hex(randomblob(45)))");
        kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
    REQUIRE(fs::exists(file.string() + "-journal"));
}

// All files of the folder but the report's page.
std::map<std::string, std::string> contents(const fs::path& folder) {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".db" || entry.path().extension() == ".db-journal")
            all[entry.path().filename().string()] = read_file(entry.path());
    return all;
}

std::size_t decisions(TuningDatabase& database) {
    std::size_t count = 0;
    for (const TuningRecord& record : database.records()) count += record.kind == TuningRecord::Kind::selection ? 1 : 0;
    return count;
}

// Every command that only reads t.db, whether it is named as a source, as an argument or by --db.
void check_commands(const fs::path& folder) {
    fill(folder / "own.db");
    const auto before = contents(folder);
    const std::string there =
        fmt::format("cd '{}' && TMM_DB=t.db TMM_CACHE_DIR={}/tests/tuner_cache {}/tools/", folder.string(), TMM_BINARY_DIR, TMM_BINARY_DIR);
    for (const char* command :
         {"tmm-db ls", "tmm-db show 16x16x16", "tmm-db candidates 16x16x16", "tmm-db stale", "tmm-db export --csv", "tmm-db export --json",
          "tmm-db verify", "tmm-db report --html /dev/null", "tmm-db bundle --gpu host --out b.tmm", "tmm-db diff t.db own.db",
          "tmm-db diff own.db t.db", "tmm-db forget --remeasured --dry-run", "tmm-db forget --gpu host --dry-run",
          "tmm-db merge --db /dev/shm/tmm-test-$$.db t.db", "tmm-gen --shape 16x16x16 --db t.db"}) {
        CAPTURE(std::string(command));
        const CommandResult result = run_command(there + command + "; s=$?; rm -f /dev/shm/tmm-test-$$.db; exit $s");
        CHECK_MESSAGE(result.status == 0, result.err);
        CHECK(contents(folder) == before);
    }
}

}  // namespace

TEST_CASE("an older version is read as today's, and stays byte for byte as it is") {
    for (int version = 1; version < TuningDatabase::kVersion; ++version) {
        CAPTURE(version);
        const TemporaryDirectory directory;
        const auto file = directory / "t.db";
        load_dump(file, version);
        const std::string bytes = read_file(file);
        {
            TuningDatabase database(file, Mode::read_only);
            CHECK(database.winners().size() == 2);
            CHECK(decisions(database) == 2);
            CHECK(database.verify().empty());
        }
        CHECK(read_file(file) == bytes);
        TuningDatabase(directory / "all.db", Mode::read_write_create).merge(file);
        CHECK(read_file(file) == bytes);
        CHECK(TuningDatabase(directory / "all.db", Mode::read_only).winners().size() == 2);
    }
    const TemporaryDirectory directory;
    load_dump(directory / "t.db", 9);
    check_commands(directory / "");
}

TEST_CASE("the library reads the winners of an older version and leaves the file alone") {
    const TemporaryDirectory directory;
    load_dump(directory / "t.db", 8);
    const std::string bytes = read_file(directory / "t.db");
    std::vector<std::string> log;
    set_log_sink([&](std::string_view line) { log.emplace_back(line); });
    TuningDatabase database(directory / "t.db", Mode::read_only);
    DeviceInfo device = host_device_info();
    device.sm_count = database.winners().front().sm_count;
    const Winners winners = read_winners(directory / "t.db", device);
    set_log_sink({});
    CHECK(winners.select(problem_of("16x16x16")).match == Match::exact);
    CHECK(log.empty());
    CHECK(read_file(directory / "t.db") == bytes);
}

TEST_CASE("what a killed writer left is undone for a reader, and the file and its journal stay as they are") {
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    fill(file);
    kill_in_a_transaction(file);
    const auto before = contents(directory / "");
    REQUIRE(before.size() == 2);
    {
        TuningDatabase database(file, Mode::read_only);
        CHECK(decisions(database) == 2);
        CHECK(database.verify().empty());
    }
    CHECK(contents(directory / "") == before);
    check_commands(directory / "");
    // A writer undoes it in the file.
    TuningDatabase writer(file, Mode::read_write);
    CHECK(decisions(writer) == 2);
    CHECK_FALSE(fs::exists(file.string() + "-journal"));
}

TEST_CASE("a killed writer's file of an older version, and one that nobody may write to") {
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    load_dump(file, 10);
    kill_in_a_transaction(file);
    const auto before = contents(directory / "");
    TuningDatabase database(file, Mode::read_only);
    CHECK(decisions(database) == 2);
    CHECK(contents(directory / "") == before);

    if (geteuid() != 0 || run_command("setpriv --version").status != 0) {
        MESSAGE("skipped: permissions are only tested as root, with setpriv");
        return;
    }
    fs::permissions(directory / "", fs::perms(0755));
    for (const char* name : {"t.db", "t.db-journal"}) fs::permissions(directory / name, fs::perms(0644));
    const CommandResult result =
        run_command(fmt::format("setpriv --reuid 65534 --clear-groups '{}/tools/tmm-db' ls --db '{}'", TMM_BINARY_DIR, file.string()));
    CHECK_MESSAGE(result.status == 0, result.err);
    CHECK_MESSAGE(result.out.find("16x16x16") != std::string::npos, result.out);
}

TEST_CASE("an older version with more pages than its disk holds of it is not copied into memory") {
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    load_dump(file, 9);
    // A page count of 2 TB, and a file as long as that, with a hole.
    std::string bytes = read_file(file);
    for (std::size_t i = 0; i < 4; ++i) bytes[28 + i] = static_cast<char>(i == 0 ? 0x1f : 0xff);
    write_file(file, bytes);
    if (truncate(file.c_str(), off_t{0x1fffffff} * 4096) != 0) {
        MESSAGE("skipped: no file here can be so long");
        return;
    }
    CHECK_THROWS_WITH(TuningDatabase(file, Mode::read_only), doctest::Contains("longer than what its disk holds"));
}
