// Tests which file a database's name means: always a plain one of that name; and what is said where it can't be opened.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "base/error.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

namespace fs = std::filesystem;

// Names without a directory mean one in it.
class CurrentDirectory {
public:
    explicit CurrentDirectory(const fs::path& path) : before_(fs::current_path()) { fs::current_path(path); }
    ~CurrentDirectory() { fs::current_path(before_); }
    CurrentDirectory(const CurrentDirectory&) = delete;
    CurrentDirectory& operator=(const CurrentDirectory&) = delete;

private:
    fs::path before_;
};

void decide_something(const fs::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("host", 80, 1));
    database.decide(problem_of("8 8 8"), {}, {.config = tiled_config(8), .median_us = 1});
}

std::set<std::string> files_of(const fs::path& directory) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename().string());
    return names;
}

// The Error (database) that opening throws, as text; empty where it opens.
std::string refusal(const fs::path& file, Mode mode) {
    try {
        TuningDatabase database(file, mode);
        (void)database.winners();
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::database);
        CHECK_FALSE(error.remedy().empty());
        return error.what();
    }
    return {};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

#define CHECK_CONTAINS(text, part) CHECK_MESSAGE(contains(text, part), text)

CommandResult tool(const std::string& arguments) {
    return run_command(fmt::format("'{}/tools/tmm-db' {}", TMM_BINARY_DIR, arguments));
}

}  // namespace

TEST_CASE("a name that SQLite reads as something else is a plain file of that name") {
    for (const char* name :
         {":memory:", "file::memory:", "file:t.db", "file:t.db?mode=memory", "file:///t.db", "t.db?immutable=1", "a#b.db", "a%41.db",
          "file::memory:?cache=shared", "-journal", "name with 'quotes' \"and\" ; spaces", "\xc3\xa4.db"}) {
        CAPTURE(name);
        const TemporaryDirectory directory;
        const CurrentDirectory inside(directory / "");
        const std::string top = fs::path(name).begin()->string();
        for (int round = 0; round < 2; ++round) {
            decide_something(name);
            CHECK(TuningDatabase(name, Mode::read_write).winners().size() == 1);
            CHECK(TuningDatabase(name, Mode::read_only).winners().size() == 1);
            CHECK(files_of(directory / "") == std::set<std::string>{top});
        }
        CHECK(fs::is_regular_file(directory / name));
    }
    // A path may begin with more slashes than one.
    const TemporaryDirectory directory;
    decide_something("//" + (directory / "t.db").string());
    CHECK(TuningDatabase(directory / "t.db", Mode::read_only).winners().size() == 1);
}

TEST_CASE("the tool takes such names from its option, from TMM_DB and as an argument") {
    const TemporaryDirectory directory;
    decide_something(directory / ":memory:");
    const std::string there = fmt::format("cd '{}' && ", (directory / "").string());
    const std::string program = fmt::format("'{}/tools/tmm-db'", TMM_BINARY_DIR);
    for (const std::string& command :
         {"TMM_DB=:memory: " + program + " ls", program + " --db :memory: ls", program + " ls --db ./:memory:"})
        CHECK_CONTAINS(run_command(there + command).out, "8x8x8");
    CHECK(run_command(there + program + " --db file:other.db merge :memory:").status == 0);
    CHECK(run_command(there + program + " diff :memory: file:other.db").status == 0);
    CHECK(files_of(directory / "") == std::set<std::string>{":memory:", "file:other.db"});
}

TEST_CASE("a name that is no file's is refused, and nothing is made") {
    const TemporaryDirectory directory;
    const CurrentDirectory inside(directory / "");
    for (const char* name : {"", "new.db/", "folder/new.db/", ".", "..", "folder/.", "folder/.."}) {
        CAPTURE(name);
        for (const Mode mode : {Mode::read_write_create, Mode::read_write, Mode::read_only}) CHECK(refusal(name, mode) != "");
        CHECK(files_of(directory / "").empty());
    }
    CHECK_CONTAINS(refusal("", Mode::read_write_create), "is empty");
    CHECK_CONTAINS(refusal("new.db/", Mode::read_write_create), "name of a directory");
    decide_something("file.db");
    CHECK_CONTAINS(refusal("file.db/", Mode::read_write), "name of a directory");
}

TEST_CASE("a path that is longer than SQLite takes is called too long; the longest that it takes serves") {
    const TemporaryDirectory directory;
    fs::path deep = directory / "deep";
    while (deep.native().size() < 400) deep /= std::string(40, 'd');
    const auto padded = [&](std::size_t length) { return deep / std::string(length - deep.native().size() - 1, 'n'); };
    std::size_t longest = 450;
    while (refusal(padded(longest + 1), Mode::read_write_create).empty()) ++longest;
    CHECK(longest > 490);
    decide_something(padded(longest));
    CHECK(TuningDatabase(padded(longest), Mode::read_write).winners().size() == 1);
    for (const Mode mode : {Mode::read_write_create, Mode::read_write})
        CHECK_CONTAINS(refusal(padded(longest + 1), mode),
                       fmt::format("too long: it has {} bytes, and SQLite takes at most {}", longest + 1, longest));
    // A short name may lead to a long one.
    fs::create_directory_symlink(deep, directory / "short");
    const std::string rest(longest + 1 - deep.native().size() - 1, 'n');
    CHECK_CONTAINS(refusal(directory / ("short/" + rest), Mode::read_write_create), "too long");
    CHECK_CONTAINS(refusal(directory / std::string(300, 'n'), Mode::read_write_create), "File name too long");
}

TEST_CASE("where the system refuses, its reason and the place are named") {
    const TemporaryDirectory directory;
    decide_something(directory / "t.db");
    fs::create_symlink("loop", directory / "loop");
    CHECK_CONTAINS(refusal(directory / "loop", Mode::read_write), "Too many levels of symbolic links");
    write_file(directory / "file", "");
    CHECK_CONTAINS(refusal(directory / "file/t.db", Mode::read_write_create), "Not a directory");
    {
        const CurrentDirectory inside(directory / "");
        fs::create_directory(directory / "gone");
        fs::current_path(directory / "gone");
        fs::remove(directory / "gone");
        CHECK_CONTAINS(refusal("t.db", Mode::read_write_create), "the current directory is not known: No such file or directory");
    }
    if (run_command("setpriv --version").status != 0 || geteuid() != 0) {
        MESSAGE("skipped: permissions are only tested as root, with setpriv");
        return;
    }
    // The tool runs as somebody who may read the file but write nothing.
    chmod((directory / "").c_str(), 0755);
    chmod((directory / "t.db").c_str(), 0644);
    const std::string other =
        fmt::format("setpriv --reuid 65534 --clear-groups '{}/tools/tmm-db' --db '{}' ", TMM_BINARY_DIR, (directory / "t.db").string());
    CHECK_CONTAINS(run_command(other + "ls").out, "8x8x8");
    write_file(directory / "export", "record,device,m,n,k,family\nselection,host,4,4,4,naive\n");
    const auto written = run_command(other + fmt::format("import '{}'", (directory / "export").string()));
    CHECK(written.status == 5);
    CHECK_CONTAINS(written.err, (directory / "t.db").string() + ": Permission denied");
    chmod((directory / "t.db").c_str(), 0600);
    CHECK_CONTAINS(run_command(other + "ls").err, "Permission denied");
}

TEST_CASE("a database restored from an SQL dump is told from a stranger's, with the way to make it one again") {
    if (run_command("sqlite3 -version").status != 0) {
        MESSAGE("skipped: sqlite3 is not installed");
        return;
    }
    const TemporaryDirectory directory;
    decide_something(directory / "t.db");
    const std::string restored = (directory / "restored.db").string();
    REQUIRE(run_command(fmt::format("sqlite3 '{}' .dump | sqlite3 '{}'", (directory / "t.db").string(), restored)).status == 0);
    const std::string bytes = read_file(restored);
    const auto refused = tool(fmt::format("ls --db '{}'", restored));
    CHECK(refused.status == 5);
    CHECK_CONTAINS(refused.err, "restored from an SQL dump");
    CHECK(read_file(restored) == bytes);
    // The test does what the sentence says to do.
    const auto command = refused.err.find("PRAGMA application_id");
    REQUIRE(command != std::string::npos);
    std::string sql = refused.err.substr(command, refused.err.find('\'', command) - command);
    sql.replace(sql.find("= N"), 3, fmt::format("= {}", TuningDatabase::kVersion));
    REQUIRE(run_command(fmt::format("sqlite3 '{}' '{}'", restored, sql)).status == 0);
    CHECK_CONTAINS(tool(fmt::format("ls --db '{}'", restored)).out, "8x8x8");
    CHECK(tool(fmt::format("verify --db '{}'", restored)).status == 0);
}

TEST_CASE("a database in WAL mode is read beside the program that keeps it so, at once, and written to once that has closed it") {
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    decide_something(file);
    {
        SQLite::Database holder(file, SQLite::OPEN_READWRITE);
        holder.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE selection SET reason = 'in the log'");
        // A wait for the lock would take half an hour.
        TuningDatabase reader(file, Mode::read_write, {.lock = std::chrono::minutes(30)});
        REQUIRE(reader.winners().size() == 1);
        CHECK(reader.winners()[0].reason == "in the log");
        CHECK(TuningDatabase(file, Mode::read_only, {.lock = std::chrono::minutes(30)}).winners().size() == 1);
        try {
            TuningDatabase writer(file, Mode::read_write_create, {.lock = std::chrono::minutes(30)});
            FAIL("it was opened for writing");
        } catch (const Error& error) {
            CHECK_CONTAINS(std::string(error.what()), "WAL mode");
            CHECK_CONTAINS(std::string(error.what()), "another program that has it open");
        }
    }
    decide_something(file);
    CHECK(SQLite::Database(file).execAndGet("PRAGMA journal_mode").getString() == "delete");
}

TEST_CASE("a new database whose whole content is still in another program's log is a tuning database") {
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    decide_something(directory / "source.db");
    SQLite::Database holder(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    holder.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    holder.backup((directory / "source.db").c_str(), SQLite::Database::Load);
    CHECK(refusal(file, Mode::read_write) == "");
}

TEST_CASE("a database in WAL mode where nothing can be written is read in a copy") {
    if (run_command("setpriv --version").status != 0 || geteuid() != 0) {
        MESSAGE("skipped: permissions are only tested as root, with setpriv");
        return;
    }
    const TemporaryDirectory directory;
    const auto file = directory / "t.db";
    decide_something(file);
    SQLite::Database(file, SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode = WAL");
    chmod((directory / "").c_str(), 0755);
    chmod(file.c_str(), 0644);
    const std::string bytes = read_file(file);
    const auto result =
        run_command(fmt::format("setpriv --reuid 65534 --clear-groups '{}/tools/tmm-db' --db '{}' ls", TMM_BINARY_DIR, file.string()));
    CHECK_MESSAGE(result.status == 0, result.err);
    CHECK_CONTAINS(result.out, "host");
    CHECK(read_file(file) == bytes);
}
