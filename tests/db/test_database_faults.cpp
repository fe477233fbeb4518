// A database that is damaged, locked, foreign or newer gives a reason, a place and a way out, and stays as it is.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "db/store/records.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

constexpr Mode kModes[] = {Mode::read_write_create, Mode::read_write, Mode::read_only};

void fill(const std::filesystem::path& file, int rows = 3) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    std::vector<TuningRecord> records;
    for (int row = 0; row < rows; ++row) {
        records.push_back({.environment = environment_of("NVIDIA H200"),
                           .problem = problem_of("64 64 " + std::to_string(row + 1)),
                           .config = tiled_config(16),
                           .measurement = measured(10 + row)});
    }
    database.insert(records);
    database.decide(problem_of("64 64 1"), {}, {.config = tiled_config(16), .median_us = 10});
}

// The message of the Error (database) that the action throws; empty where it throws none.
template <typename Action>
std::string failure(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::database);
        CHECK_FALSE(error.where().empty());
        CHECK_FALSE(error.remedy().empty());
        return error.what();
    }
    return {};
}

void check_refused(const std::filesystem::path& file, const std::string& reason) {
    CAPTURE(file);
    const std::string bytes = read_file(file);
    for (const Mode mode : kModes) {
        const std::string message = failure([&] { TuningDatabase(file, mode); });
        CHECK_MESSAGE(message.find(reason) != std::string::npos, message);
        CHECK(message.find(file.string()) != std::string::npos);
    }
    CHECK(read_file(file) == bytes);
    CHECK_FALSE(std::filesystem::exists(file.string() + "-journal"));
}

}  // namespace

TEST_CASE("files of others are refused and stay as they are") {
    const TemporaryDirectory directory;
    write_file(directory / "text.db", "M N K\n1 2 3\n" + std::string(5000, 'x'));
    check_refused(directory / "text.db", "another program");
    write_file(directory / "short.db", "x");
    check_refused(directory / "short.db", "another program");
    {
        SQLite::Database other(directory / "other.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        other.exec("CREATE TABLE measurement (id INTEGER); PRAGMA user_version = 1");
    }
    check_refused(directory / "other.db", "another program");
    {
        SQLite::Database other(directory / "weird ?#%41 name.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        other.exec("PRAGMA application_id = 252006675; CREATE TABLE t (x)");
    }
    check_refused(directory / "weird ?#%41 name.db", "another program");
    fill(directory / "ours ?#%41 name.db");
    CHECK(TuningDatabase(directory / "ours ?#%41 name.db", Mode::read_write).winners().size() == 1);
}

TEST_CASE("a newer version is refused, and told what would read it") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    SQLite::Database(file, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
    check_refused(file, "version 99");
}

TEST_CASE("a file that bears our marks without our tables is damaged") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    SQLite::Database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(fmt::format("PRAGMA application_id = 1953328484; PRAGMA user_version = {}; CREATE TABLE t (x)", TuningDatabase::kVersion));
    for (const Mode mode : kModes)
        CHECK(failure([&] { TuningDatabase(file, mode).winners(); }).find("damaged (no such table") != std::string::npos);
}

TEST_CASE("a truncated file is damaged wherever it was cut") {
    const TemporaryDirectory directory;
    fill(directory / "whole.db", 50);
    const std::string bytes = read_file(directory / "whole.db");
    REQUIRE(bytes.size() > 40'000);
    for (const std::size_t size : {std::size_t{50}, std::size_t{512}, std::size_t{4096}, bytes.size() / 2, bytes.size() - 4096}) {
        CAPTURE(size);
        const auto file = directory / "cut.db";
        write_file(file, bytes.substr(0, size));
        for (const Mode mode : kModes) {
            const std::string message = failure([&] { TuningDatabase(file, mode).winners(); });
            CHECK_MESSAGE((message.find("damaged") != std::string::npos || message.find("another program") != std::string::npos), message);
        }
        CHECK(read_file(file) == bytes.substr(0, size));
    }
}

TEST_CASE("flipped bytes never crash: each page's loss is an error, or verify() finds it, or nothing was lost") {
    const TemporaryDirectory directory;
    fill(directory / "whole.db", 20);
    const std::string bytes = read_file(directory / "whole.db");
    int noticed = 0;
    for (std::size_t page = 0; page < bytes.size(); page += 4096) {
        const auto file = directory / "broken.db";
        std::string broken = bytes;
        for (std::size_t i = page + (page ? 0 : 100); i < page + 4096; i += 3) broken[i] = static_cast<char>(broken[i] ^ 0x5a);
        write_file(file, broken);
        const std::string message = failure([&] {
            TuningDatabase database(file, Mode::read_write);
            if (!database.verify().empty()) ++noticed;
            (void)database.records();
            (void)database.winners();
        });
        if (!message.empty()) ++noticed;
    }
    CHECK(noticed > 10);
}

TEST_CASE("a directory, a socket's place, a missing file and a folder that can't be made") {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "folder");
    for (const Mode mode : kModes)
        CHECK(failure([&] { TuningDatabase(directory / "folder", mode); }).find("directory") != std::string::npos);
    REQUIRE(mkfifo((directory / "pipe").c_str(), 0600) == 0);
    for (const Mode mode : kModes) CHECK(failure([&] { TuningDatabase(directory / "pipe", mode); }).find("regular") != std::string::npos);
    for (const Mode mode : {Mode::read_write, Mode::read_only})
        CHECK(failure([&] { TuningDatabase(directory / "missing.db", mode); }).find("run tmm-tune") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(directory / "missing.db"));
    write_file(directory / "file", "");
    CHECK(failure([&] { TuningDatabase(directory / "file/below/tmm.db", Mode::read_write_create); }).find("can't be made") !=
          std::string::npos);
    // An empty file may become a database, but is none yet.
    CHECK_FALSE(failure([&] { TuningDatabase(directory / "file", Mode::read_write); }).empty());
    TuningDatabase(directory / "file", Mode::read_write_create);
    CHECK(TuningDatabase(directory / "file", Mode::read_only).winners().empty());
}

TEST_CASE("a read-only connection reads, and says why it does not write") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    const std::string bytes = read_file(file);
    TuningDatabase database(file, Mode::read_only);
    database.set_environment(environment_of("NVIDIA H200"));
    CHECK(database.winners().size() == 1);
    CHECK(database.deciding_measurements(problem_of("64 64 1")).size() == 1);
    CHECK(failure([&] { database.record(problem_of("1 1 1"), tiled_config(4), {}, measured(1)); }).find("can't be written") !=
          std::string::npos);
    CHECK(read_file(file) == bytes);
}

TEST_CASE("a killed writer's journal is rolled back by the next one") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    const pid_t child = fork();
    if (child == 0) {
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        // A cache of one page makes it write before it commits.
        raw.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE measurement SET samples = 1; DELETE FROM selection;");
        for (int i = 0; i < 200; ++i) raw.exec("INSERT INTO policy (cold_l2, graph, data) VALUES (1, 1, hex(randomblob(45)))");
        kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
    REQUIRE(std::filesystem::exists(file.string() + "-journal"));
    TuningDatabase database(file, Mode::read_write);
    CHECK(database.verify().empty());
    CHECK(database.winners().size() == 1);
    CHECK(database.records().size() == 4);
}

TEST_CASE("a locked database gives up with a reason, after it has waited") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    SQLite::Database holder(file, SQLite::OPEN_READWRITE);
    holder.exec("BEGIN EXCLUSIVE");
    for (const Mode mode : kModes)
        CHECK(failure([&] { TuningDatabase(file, mode, {.lock = std::chrono::milliseconds(200)}); }).find("locked") != std::string::npos);
    holder.exec("ROLLBACK");
    TuningDatabase waiting(file, Mode::read_write, {.lock = std::chrono::milliseconds(200)});
    waiting.set_environment(environment_of("NVIDIA H200"));
    holder.exec("BEGIN IMMEDIATE");
    CHECK(waiting.winners().size() == 1);
    CHECK(failure([&] { waiting.announce(problem_of("64 64 1"), tiled_config(16), "tmm_tiled"); }).find("locked") != std::string::npos);
    holder.exec("ROLLBACK");
    waiting.announce(problem_of("64 64 1"), tiled_config(16), "tmm_tiled");
    CHECK(TuningDatabase(file, Mode::read_write).winners().size() == 1);
}

TEST_CASE("a relative name without a working directory is an error of the database") {
    for (const Mode mode : {Mode::read_write_create, Mode::read_write, Mode::read_only}) {
        std::fflush(nullptr);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            char name[] = "/tmp/tmm-test-gone-XXXXXX";
            if (!mkdtemp(name) || chdir(name) != 0 || rmdir(name) != 0) _exit(2);
            try {
                const TuningDatabase database("relative.db", mode);
                _exit(3);
            } catch (const Error& error) {
                const bool told = std::string(error.what()).find("the current directory is not known") != std::string::npos;
                _exit(error.status() == ExitStatus::database && told ? 0 : 4);
            } catch (...) {
                _exit(5);
            }
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK((WIFEXITED(status) ? WEXITSTATUS(status) : 128) == 0);
    }
}

TEST_CASE("too little memory is no damage") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    int refused = 0;
    int opened = 0;
    for (sqlite3_int64 limit = 20'000; limit < 8'000'000; limit += limit / 6) {
        CAPTURE(limit);
        sqlite3_hard_heap_limit64(limit);
        const std::string message = failure([&] { TuningDatabase(file, Mode::read_write).records(); });
        sqlite3_hard_heap_limit64(0);
        (message.empty() ? opened : refused) += 1;
        if (!message.empty()) CHECK_MESSAGE(message.find("memory is too short") != std::string::npos, message);
    }
    CHECK(refused > 0);
    CHECK(opened > 0);
    CHECK(TuningDatabase(file, Mode::read_write).verify().empty());
}
