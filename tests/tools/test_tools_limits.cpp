// The tools where the user may have few processes (ulimit -u) or write small files only (ulimit -f): they do with less, or end with a
// message and a status of their own, never by a signal.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/database_fixture.h"
#include "tests/support/slice.h"

using namespace tmm::testing;
namespace fs = std::filesystem;

namespace {

constexpr unsigned kSomebody = 12345;

// A user's folder with the tools, shapes, a database and compiled kernels. Root is bound by no limit of processes: there it is another
// user's.
class Home {
public:
    Home() : path(scratch_ / "home") {
        fs::create_directory(path);
        std::ofstream(path / "shapes.txt") << "4 4 4\n8 8 8\n";
        for (const char* tool : {"tools/tmm-tune", "tools/tmm-db"})
            fs::copy_file(fs::path(TMM_BINARY_DIR) / tool, path / fs::path(tool).filename());
        if (geteuid() == 0) {
            fs::permissions(path.parent_path(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
            REQUIRE(chown(path.c_str(), kSomebody, kSomebody) == 0);
        }
        const CommandResult tuned = run("true", "./tmm-tune --gpu host --effort quick --budget 3 --shapes shapes.txt --db full.db");
        REQUIRE_MESSAGE((tuned.status == 0 || tuned.status == 6), tuned.err);
    }

    // The status is 128 and the signal's number where one ended it.
    CommandResult run(const std::string& limit, const std::string& command) const {
        const std::string variables =
            fmt::format("cd '{}' && HOME='{}' TMM_CACHE_DIR='{}'", path.string(), path.string(), (path / "cache").string());
        const std::string script = fmt::format("{} bash -c '{} && exec {}'", variables, limit, command);
        if (geteuid() != 0) return run_command(script);
        return run_command(
            fmt::format("cd / && setpriv --reuid {} --regid {} --clear-groups bash -c \"{}\"", kSomebody, kSomebody, script));
    }

private:
    TemporaryDirectory scratch_;

public:
    fs::path path;
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

void check_end(const CommandResult& result) {
    CHECK_MESSAGE(result.status < 128, result.err);
    CHECK_FALSE(contains(result.err, "terminate called"));
    if (result.status != 0 && result.status != 6) CHECK_MESSAGE(contains(result.err, "tmm-"), result.err);
}

}  // namespace

TEST_CASE("few processes and threads") {
    const Home home;
    std::size_t index = 0;
    for (const int processes : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24}) {
        if (!in_slice(index++, 3)) continue;
        CAPTURE(processes);
        const CommandResult result = home.run(fmt::format("ulimit -u {}", processes),
                                              "./tmm-tune --gpu host --effort quick --budget 1 --shapes shapes.txt --db few.db");
        check_end(result);
        fs::remove(home.path / "few.db");
    }
    const CommandResult result = home.run("ulimit -u 1", "./tmm-tune --gpu host --effort quick --budget 1 --shapes shapes.txt --db few.db");
    CHECK(result.status != 0);
    CHECK_MESSAGE(contains(result.err, "ulimit -u"), result.err);
}

TEST_CASE("small files") {
    const Home home;
    std::size_t index = 0;
    for (const int kilobytes : {4, 8, 16, 40, 100}) {
        CAPTURE(kilobytes);
        const std::string limit = fmt::format("ulimit -f {}", kilobytes);
        if (in_slice(index++, 2)) {
            const CommandResult result =
                home.run(limit, "./tmm-tune --gpu host --effort quick --budget 1 --shapes shapes.txt --db small.db");
            check_end(result);
            if (kilobytes <= 16) CHECK_MESSAGE(result.status == 5, result.err);
            fs::remove(home.path / "small.db");
            fs::remove(home.path / "small.db-journal");
        }
        const CommandResult merged = home.run(limit, "./tmm-db merge full.db --db other.db");
        check_end(merged);
        if (kilobytes <= 16) CHECK_MESSAGE(merged.status == 5, merged.err);
        fs::remove(home.path / "other.db");
        fs::remove(home.path / "other.db-journal");
        if (kilobytes == 4) {
            const CommandResult report = home.run(limit, "./tmm-db report --html report.html --db full.db");
            CHECK_MESSAGE(report.status != 0, report.err);
            CHECK_MESSAGE(contains(report.err, "File too large"), report.err);
        }
    }
    // The content that was there before is still whole.
    const CommandResult listed = home.run("true", "./tmm-db verify --db full.db");
    CHECK_MESSAGE(listed.status == 0, listed.err);
}
