// Tests files beside a database under the names of its journal and its write-ahead log: tmm opens them only where SQLite made them, and
// nothing of somebody else's is deleted, written or waited for.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <set>

#include "base/error.h"
#include "db/store/database_file.h"
#include "tests/support/database_fixture.h"
#include "tests/support/hostile_files.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

namespace fs = std::filesystem;

constexpr Mode kModes[] = {Mode::read_write_create, Mode::read_write, Mode::read_only};
constexpr const char* kSuffixes[] = {"-journal", "-wal", "-shm"};

void fill(const fs::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    database.decide(problem_of("64 64 64"), {}, {.config = tiled_config(16), .median_us = 10});
}

// The Error (database) that opening and reading throws; empty where it throws none.
std::string refusal(const fs::path& file, Mode mode) {
    try {
        const auto winners = TuningDatabase(file, mode).winners();
        CHECK(winners.size() == 1);
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::database);
        CHECK_FALSE(error.remedy().empty());
        return error.what();
    }
    return {};
}

std::set<std::string> names_in(const fs::path& directory) {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) names.insert(entry.path().string());
    return names;
}

void check_refused(const fs::path& opened, const std::string& named) {
    const auto before = names_in(opened.parent_path());
    const std::string bytes = read_file(opened);
    for (const Mode mode : kModes) {
        const std::string message = refusal(opened, mode);
        CHECK_MESSAGE(message.find(named) != std::string::npos, message);
    }
    const auto tool = run_command(fmt::format("'{}/tools/tmm-db' ls --db '{}'", TMM_BINARY_DIR, opened.string()));
    CHECK(tool.status == 5);
    CHECK_MESSAGE(tool.err.find(named) != std::string::npos, tool.err);
    CHECK(read_file(opened) == bytes);
    CHECK(names_in(opened.parent_path()) == before);
}

}  // namespace

TEST_CASE("a journal, log or index that is no plain file is refused by its name, and nothing is opened") {
    for (const char* suffix : kSuffixes) {
        for (const Planted what : kPlanted) {
            CAPTURE(std::string(suffix));
            CAPTURE(static_cast<int>(what));
            const TemporaryDirectory directory;
            const fs::path file = directory / "t.db", victim = directory / "victim";
            fill(file);
            // SQLite takes a journal that begins with a zero for one that may be written over.
            write_file(victim, std::string("\0precious", 9));
            plant(what, file.string() + suffix, victim);
            check_refused(file, file.string() + suffix);
            CHECK(read_file(victim) == std::string("\0precious", 9));
        }
    }
}

TEST_CASE("what counts lies beside the file that a symbolic link leads to") {
    const TemporaryDirectory directory;
    fs::create_directory(directory / "real");
    const fs::path file = directory / "real/t.db", link = directory / "link.db";
    fill(file);
    fs::create_symlink(file, link);
    fs::create_directory_symlink(directory / "real", directory / "folder");
    plant(Planted::fifo, file.string() + "-journal", {});
    check_refused(link, file.string() + "-journal");
    check_refused(directory / "folder/t.db", file.string() + "-journal");
    fs::remove(file.string() + "-journal");
    // Beside the link it is nobody's journal.
    plant(Planted::fifo, link.string() + "-journal", {});
    for (const Mode mode : kModes) CHECK(refusal(link, mode) == "");
}

TEST_CASE("a journal that names a super-journal is refused, and what it names stays") {
    const TemporaryDirectory directory;
    const fs::path file = directory / "t.db";
    fill(file);
    for (const char* name : {"victim", "other.db-journal", "-", "\xc3\xa4 file"}) {
        CAPTURE(std::string(name));
        const fs::path victim = directory / name;
        write_file(victim, "precious");
        write_file(file.string() + "-journal", journal_of_super_journal(victim.string(), fs::file_size(file)));
        check_refused(file, "ends in the name of another file");
        CHECK(read_file(victim) == "precious");
    }
}

TEST_CASE("the same by a race: SQLite itself, through tmm's file system, deletes and opens no such file") {
    const TemporaryDirectory directory;
    const fs::path file = directory / "t.db", victim = directory / "victim";
    fill(file);
    const auto read = [&](const char* vfs) {
        try {
            SQLite::Database raw(file, SQLite::OPEN_READWRITE, 0, vfs ? vfs : "");
            return raw.execAndGet("SELECT count(*) FROM selection").getInt();
        } catch (const SQLite::Exception&) {
            return -1;
        }
    };
    const auto lay = [&] {
        write_file(victim, "precious");
        write_file(file.string() + "-journal", journal_of_super_journal(victim.string(), fs::file_size(file)));
    };
    lay();
    CHECK(read(guarded_vfs()) == -1);
    CHECK(read_file(victim) == "precious");
    // The journal is one that SQLite follows.
    lay();
    CHECK(read(nullptr) == 1);
    CHECK_FALSE(fs::exists(victim));
    for (const Planted what : {Planted::fifo, Planted::hard_link, Planted::link_to_file}) {
        write_file(victim, "precious");
        fs::remove(file.string() + "-journal");
        plant(what, file.string() + "-journal", victim);
        CHECK(read(guarded_vfs()) == -1);
        CHECK(read_file(victim) == "precious");
    }
}
