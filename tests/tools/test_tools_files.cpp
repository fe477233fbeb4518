// Tests that, whatever the umask, the files that the tools make are accessible to their user alone: directories have mode 0700, files mode
// 0600.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/database_fixture.h"

using namespace tmm::testing;
namespace fs = std::filesystem;

namespace {

// Runs a tool in the folder, with a database and a cache that nothing has made yet.
CommandResult run_tool(const fs::path& folder, const char* umask, const std::string& tool) {
    return run_command(fmt::format("cd '{}' && umask {} && TMM_DB=data/below/tmm.db TMM_CACHE_DIR=cache/below TMPDIR=/tmp {}/{} --gpu host",
                                   folder.string(), umask, TMM_BINARY_DIR, tool));
}

std::string mode_of(const fs::path& path) {
    struct stat status;
    return lstat(path.c_str(), &status) == 0 ? fmt::format("{:o}", status.st_mode & 07777) : "missing";
}

}  // namespace

TEST_CASE("a database, a cache, reports and tables of results, and the directories that they are in") {
    for (const char* umask : {"000", "022", "777"}) {
        CAPTURE(umask);
        const TemporaryDirectory scratch;
        const fs::path folder = scratch / "work";
        fs::create_directory(folder);
        std::ofstream(folder / "shapes.txt") << "4 4 4\n";
        const CommandResult tuned = run_tool(folder, umask, "tools/tmm-tune --effort quick --budget 1 --shapes shapes.txt");
        CHECK_MESSAGE((tuned.status == 0 || tuned.status == 6), tuned.err);
        const CommandResult report = run_tool(folder, umask, "tools/tmm-db report --html report.html");
        CHECK_MESSAGE(report.status == 0, report.err);
        const CommandResult bench = run_tool(folder, umask, "tools/tmm-bench --vs cpu --csv r.csv --json r.json --shapes shapes.txt");
        CHECK_MESSAGE(bench.status == 0, bench.err);

        std::map<std::string, int> made;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.path().filename() == "shapes.txt") continue;
            CHECK_MESSAGE(mode_of(entry.path()) == (entry.is_directory() ? "700" : "600"), entry.path().string());
            ++made[entry.is_directory() ? "directories" : entry.path().extension().string()];
        }
        CHECK(made["directories"] == 4);
        for (const char* extension : {".db", ".html", ".csv", ".json", ".kernel"}) CHECK_MESSAGE(made[extension] > 0, extension);
    }
}

TEST_CASE("a file that is there already keeps the mode that its user gave it") {
    const TemporaryDirectory scratch;
    const fs::path folder = scratch / "work";
    fs::create_directory(folder);
    std::ofstream(folder / "shapes.txt") << "4 4 4\n";
    for (const char* file : {"r.csv", "r.json"}) {
        std::ofstream(folder / file) << std::string(100'000, 'x');
        REQUIRE(chmod((folder / file).c_str(), 0644) == 0);
    }
    const CommandResult bench = run_tool(folder, "077", "tools/tmm-bench --vs cpu --csv r.csv --json r.json --shapes shapes.txt");
    CHECK_MESSAGE(bench.status == 0, bench.err);
    for (const char* file : {"r.csv", "r.json"}) {
        CHECK(mode_of(folder / file) == "644");
        CHECK(fs::file_size(folder / file) < 100'000);
    }
}
