// Files that the tools write: never in the place of what a command reads, by whatever spelling, and whole or not at all.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/output_file.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A folder "work" with all that a command may read, and other names for each of these files.
class Folder {
public:
    Folder() {
        fs::create_directories(path() / "inner");
        {
            TuningDatabase database(path() / "t.db", TuningDatabase::Mode::read_write_create);
            database.set_environment(environment_of("NVIDIA H200"));
            database.record(problem_of("8 8 8"), tiled_config(8), {}, measured(3));
            database.decide(problem_of("8 8 8"), {},
                            {.config = tiled_config(8), .median_us = 3, .candidates = 1, .reason = "the only one"});
        }
        write_file(path() / "s.txt", "4 4 4\n");
        write_file(path() / "c.json", R"({"run": {"gpu": "NVIDIA H200", "read_gb_s": "4700"}})");
        fs::create_directory_symlink(".", path() / "same");
        for (const char* name : {"t.db", "s.txt", "c.json"}) {
            fs::create_symlink(name, path() / (std::string("link-") + name));
            fs::create_hard_link(path() / name, path() / (std::string("hard-") + name));
        }
    }
    fs::path path() const { return scratch_ / "work"; }

    // The shell has each of these files open, as 3, 4 and 5.
    CommandResult run(const std::string& command) const {
        return run_command(fmt::format("cd '{}' && exec 3<t.db 4<s.txt 5<c.json && TMM_DB=t.db TMM_CACHE_DIR={}/tests/tuner_cache {}/{}",
                                       path().string(), TMM_BINARY_DIR, TMM_BINARY_DIR, command));
    }
    std::map<std::string, std::string> contents() const {
        std::map<std::string, std::string> all;
        for (const auto& entry : fs::directory_iterator(path()))
            if (entry.is_regular_file()) all[entry.path().filename().string()] = read_file(entry.path());
        return all;
    }

    std::vector<std::string> spellings(const std::string& name) const {
        const std::string descriptor = name == "t.db" ? "3" : name == "s.txt" ? "4" : "5";
        return {name,
                "./" + name,
                "inner/../" + name,
                "../work/" + name,
                (path() / name).string(),
                "same/" + name,
                "link-" + name,
                "hard-" + name,
                "same/same/link-" + name,
                "/proc/self/cwd/" + name,
                "/proc/self/fd/" + descriptor,
                "/dev/fd/" + descriptor};
    }

private:
    TemporaryDirectory scratch_;
};

struct Writing {
    // {} stands for the output.
    const char* command;
    std::vector<std::string> inputs;
};

const std::vector<Writing>& writings() {
    static const auto& all = *new std::vector<Writing>{
        {"tools/tmm-db report --html {} --ceilings c.json", {"t.db", "c.json"}},
        {"tools/tmm-db report --db hard-t.db --html {}", {"t.db"}},
        {"tools/tmm-db bundle --gpu host --shapes s.txt --out {}", {"t.db", "s.txt"}},
        {"tools/tmm-bench --gpu host --vs cpu --shapes s.txt --csv {}", {"t.db", "s.txt"}},
        {"tools/tmm-bench --gpu host --vs cpu --shapes - <s.txt --json {}", {"t.db", "s.txt"}},
        {"tools/tmm-bench --gpu host --accuracy --shapes link-s.txt --json {}", {"s.txt"}},
        {"tools/tmm-bench --gpu host --shapes s.txt --record {}", {"s.txt"}},
    };
    return all;
}

std::string with(const std::string& command, const std::string& output) {
    std::string text = command;
    return text.replace(text.find("{}"), 2, output);
}

}  // namespace

TEST_CASE("no output takes the place of what its command reads, however it is spelled") {
    const Folder folder;
    const auto before = folder.contents();
    for (const Writing& writing : writings())
        for (const std::string& input : writing.inputs)
            for (const std::string& output : folder.spellings(input)) {
                const std::string command = with(writing.command, output);
                CAPTURE(std::string(command));
                const CommandResult result = folder.run(command);
                CHECK(result.status == 1);
                CHECK_MESSAGE(contains(result.err, "it would replace"), result.err);
                CHECK_MESSAGE(contains(result.err, "name another file"), result.err);
                CHECK(folder.contents() == before);
            }
}

TEST_CASE("what SQLite keeps beside a database, the bundle in use and the command's other output count, too") {
    const Folder folder;
    fs::create_directory(folder.path() / "deep");
    fs::create_symlink("../t.db", folder.path() / "deep/far.db");
    const auto before = folder.contents();
    for (const char* command : {"tools/tmm-db report --html t.db-journal", "tools/tmm-db report --db link-t.db --html t.db-wal",
                                "tools/tmm-db report --html same/t.db-shm", "tools/tmm-db report --db deep/far.db --html t.db-journal",
                                "tools/tmm-bench --gpu host --shapes s.txt --csv r --json inner/../r",
                                "tools/tmm-bench --gpu host --shapes s.txt --csv new.csv --json same/NEW.csv"}) {
        CAPTURE(std::string(command));
        const CommandResult result = folder.run(command);
        CHECK(result.status == 1);
        CHECK_MESSAGE(contains(result.err, "it would replace"), result.err);
        CHECK(folder.contents() == before);
    }
    write_file(folder.path() / "b.tmm", "a bundle");
    const CommandResult bundle =
        run_command(fmt::format("cd '{}' && TMM_BUNDLE=b.tmm {}/tools/tmm-bench --gpu host --shapes s.txt --csv same/b.tmm",
                                folder.path().string(), TMM_BINARY_DIR));
    CHECK(bundle.status == 1);
    CHECK(read_file(folder.path() / "b.tmm") == "a bundle");
}

TEST_CASE("what is printed does not go into what is read") {
    const Folder folder;
    const auto before = folder.contents();
    for (const char* command :
         {"tools/tmm-db export --csv >> t.db", "tools/tmm-db ls >> hard-t.db", "tools/tmm-db diff t.db link-t.db >> t.db",
          "tools/tmm-tune --gpu host --dry-run --shapes s.txt >> link-s.txt", "tools/tmm-db import c.json --db n.db >> c.json"}) {
        CAPTURE(std::string(command));
        const CommandResult result = folder.run(command);
        CHECK(result.status == 1);
        CHECK_MESSAGE(contains(result.err, "what is printed would go into"), result.err);
        CHECK(folder.contents() == before);
    }
}

TEST_CASE("where a file can't be written whole, the old one stays and no new one appears") {
    const Folder folder;
    REQUIRE(folder.run("tools/tmm-db report --html r.html").status == 0);
    REQUIRE(folder.run("tools/tmm-db bundle --gpu host --shapes s.txt --out b.tmm").status == 0);
    const auto before = folder.contents();
    for (const char* command : {"tools/tmm-db report --html {}", "tools/tmm-db bundle --gpu host --shapes s.txt --out {}"}) {
        for (const char* output : {"r.html", "b.tmm", "new"}) {
            CAPTURE(std::string(command));
            CAPTURE(std::string(output));
            // What is said goes to a pipe, to which the limit does not apply.
            const CommandResult result = run_command(
                fmt::format("cd '{}' && (ulimit -f 8; TMM_DB=t.db TMM_CACHE_DIR={}/tests/tuner_cache {}/{} 2>&1; echo status $?) | cat >&2",
                            folder.path().string(), TMM_BINARY_DIR, TMM_BINARY_DIR, with(command, output)));
            CHECK_MESSAGE(contains(result.err, "status 2"), result.err);
            CHECK_MESSAGE(contains(result.err, "can't be written"), result.err);
            CHECK_MESSAGE(contains(result.err, "ulimit -f"), result.err);
            CHECK(folder.contents() == before);
        }
    }
    const CommandResult full = folder.run("tools/tmm-db report --html /dev/full");
    CHECK(full.status == 2);
    CHECK_MESSAGE(contains(full.err, "make room on the disk"), full.err);
    const CommandResult directory = folder.run("tools/tmm-db report --html inner");
    CHECK(directory.status == 2);
    CHECK_MESSAGE(contains(directory.err, "name a file, not a directory"), directory.err);
}

TEST_CASE("links of this user's own are followed, permissions are kept, and pipes are written to") {
    const Folder folder;
    write_file(folder.path() / "inner/old.html", "old");
    REQUIRE(chmod((folder.path() / "inner/old.html").c_str(), 0640) == 0);
    fs::create_symlink("inner/old.html", folder.path() / "r.html");
    fs::create_symlink("inner/new.html", folder.path() / "n.html");
    for (const char* name : {"r.html", "n.html"}) {
        REQUIRE(folder.run(std::string("tools/tmm-db report --html ") + name).status == 0);
        CHECK(fs::is_symlink(folder.path() / name));
    }
    CHECK(read_file(folder.path() / "inner/old.html").size() > 1000);
    struct stat status {};
    REQUIRE(stat((folder.path() / "inner/old.html").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
    REQUIRE(stat((folder.path() / "inner/new.html").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    // Everybody may read a bundle, and nobody else replace it.
    write_file(folder.path() / "b.tmm", "old");
    REQUIRE(chmod((folder.path() / "b.tmm").c_str(), 0666) == 0);
    REQUIRE(folder.run("tools/tmm-db bundle --gpu host --shapes s.txt --out b.tmm").status == 0);
    REQUIRE(stat((folder.path() / "b.tmm").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0644);

    const CommandResult piped = folder.run("tools/tmm-db report --html /dev/stdout | tail -n 3");
    CHECK_MESSAGE(contains(piped.out, "</html>"), piped.err);
    CHECK(folder.run("tools/tmm-db report --html /dev/null").status == 0);
    CHECK(fs::is_character_file("/dev/null"));
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
        CHECK_MESSAGE(entry.path().filename().string().find(".tmm-") == std::string::npos, "left behind: " << entry.path().string());
}

TEST_CASE("a link that another user has planted is replaced, and what it leads to stays") {
    if (geteuid() != 0) {
        MESSAGE("skipped: only root can make another user's link");
        return;
    }
    const Folder folder;
    write_file(folder.path() / "victim", "secret");
    fs::create_symlink("victim", folder.path() / "out.html");
    REQUIRE(lchown((folder.path() / "out.html").c_str(), 65534, 65534) == 0);
    REQUIRE(folder.run("tools/tmm-db report --html out.html").status == 0);
    CHECK(read_file(folder.path() / "victim") == "secret");
    CHECK_FALSE(fs::is_symlink(folder.path() / "out.html"));
    CHECK(read_file(folder.path() / "out.html").size() > 1000);
}

TEST_CASE("a file that its user has locked against writing stays, though its directory could be written to") {
    if (geteuid() == 0) {
        MESSAGE("skipped: root may write to every file");
        return;
    }
    const TemporaryDirectory scratch;
    write_file(scratch / "kept", "old");
    REQUIRE(chmod((scratch / "kept").c_str(), 0400) == 0);
    CHECK_THROWS_AS(publish_file(scratch / "kept", "new", {}), Error);
    CHECK(read_file(scratch / "kept") == "old");
}
