// libtmm_blas.so in processes that do more than multiply: nothing that they do goes another way than without it. The programs stand in
// tests/preload/blas_*.cpp. TMM_TEST_FULL=1 forks, cancels and closes a thousand times.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace {

namespace fs = std::filesystem;
using tmm::testing::TemporaryDirectory;

const std::string kFolder = TMM_TEST_BLAS_FOLDER;
const int kRounds = std::getenv("TMM_TEST_FULL") ? 1000 : 60;
// A program that hangs ends after so many.
const int kSeconds = std::getenv("TMM_TEST_FULL") ? 900 : 100;
// All that a program may do to products: leave them alone, serve what a GPU would be worth, serve all on the emulated device, write them
// down.
const std::vector<std::string> kModes{"TMM_MODE=off", "TMM_MODE=use", "TMM_DEVICE=host", "TMM_MODE=record TMM_RECORD=/dev/null/none"};

std::string read(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

struct Finished {
    int status = 0;
    std::string said;
};

// A signal's number is added to 128.
Finished run_in(const fs::path& folder, const std::string& environment, const std::string& words) {
    const std::string output = (folder / "../said").lexically_normal().string();
    const std::string command = fmt::format(
        "cd '{}' && exec timeout {} env LD_PRELOAD='{}' TMM_CACHE_DIR='{}/tests/tuner_cache' TMM_DB=/dev/null/none {} {}/{} > '{}' 2>&1",
        folder.string(), kSeconds, TMM_TEST_SGEMM_LIBRARY, TMM_BINARY_DIR, environment, kFolder, words, output);
    const int status = std::system(command.c_str());
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), .said = read(output)};
}

// A folder for the program alone.
class Folder {
public:
    Folder() { fs::create_directory(path()); }
    fs::path path() const { return parent_.path() / "own"; }

private:
    TemporaryDirectory parent_;
};

Finished run(const std::string& environment, const std::string& words) {
    const Folder folder;
    return run_in(folder.path(), environment, words);
}

// Without the library the program does what it should.
Finished run_without(const std::string& words) {
    return run("LD_PRELOAD=", words);
}

bool is_skipped() {
    if (!kFolder.empty()) return false;
    MESSAGE("skipped: no program that is not built for it can load a library with a sanitizer");
    return true;
}

void check_in_all_modes(const std::string& words) {
    const Finished without = run_without(words);
    REQUIRE_MESSAGE(without.status == 0, without.said);
    for (const std::string& mode : kModes) {
        CAPTURE(words);
        CAPTURE(mode);
        const Finished finished = run(mode, words);
        CHECK_MESSAGE(finished.status == 0, finished.said);
    }
}

std::string calls_of(const std::string& record, int n) {
    // Both functions multiply, row-major and column-major.
    const std::string row = fmt::format("\n{0} {0} {0}  # ", n);
    const auto at = record.find(row);
    return at == std::string::npos ? "none" : record.substr(at + row.size(), record.find(" calls", at) - at - row.size());
}

}  // namespace

TEST_CASE("children multiply, whatever threads of their parent are within") {
    if (!is_skipped()) check_in_all_modes(fmt::format("tmm_test_blas_process forks {}", kRounds));
}

TEST_CASE("threads are cancelled between products, and the process goes on") {
    if (!is_skipped()) check_in_all_modes(fmt::format("tmm_test_blas_process cancels {}", kRounds));
}

TEST_CASE("exceptions, longjmp and the end of a thread leave products as they would without") {
    if (is_skipped()) return;
    const std::string words = fmt::format("tmm_test_blas_process leaves {}", kRounds);
    REQUIRE(run_without(words).status == 0);
    for (const std::string mode : {"TMM_MODE=off", "TMM_MODE=use"}) {
        CAPTURE(mode);
        CHECK(run(mode, words).status == 0);
    }
    const Folder folder;
    CHECK(run_in(folder.path(), "TMM_MODE=record TMM_RECORD=shapes.txt", words).status == 0);
    // The library knows that the products that were left are over.
    CHECK(calls_of(read(folder.path() / "shapes.txt"), 21) == std::to_string(kRounds));
}

TEST_CASE("each library's products reach its own BLAS, however often others were closed") {
    if (is_skipped()) return;
    check_in_all_modes(fmt::format("tmm_test_blas_plugin_host {1} {0}/libtmm_test_blas_plugin_one.so 1024", kFolder, kRounds));
    const std::string both = fmt::format(
        "tmm_test_blas_plugin_host {1} {0}/libtmm_test_blas_plugin_one.so 1024 {0}/libtmm_test_blas_plugin_two.so 2048", kFolder, kRounds);
    REQUIRE(run_without(both).status == 0);
    for (const char* mode : {"TMM_MODE=off", "TMM_MODE=use", "TMM_MODE=record TMM_RECORD=shapes.txt"}) {
        CAPTURE(mode);
        const Finished finished = run(mode, both);
        CHECK_MESSAGE(finished.status == 0, finished.said);
    }
}

TEST_CASE("a file that takes the place of a closed library, under its name, has functions of its own") {
    if (is_skipped()) return;
    const Folder folder;
    const auto file = [&](const char* name) { return fs::path(kFolder) / name; };
    // The plugin finds its BLAS beside it.
    const std::string host = fmt::format("tmm_test_blas_plugin_host 2 {0}/plugin.so 1024 {0}/other.so 2048", folder.path().string());
    for (const auto& [from, to] :
         {std::pair{"libtmm_test_blas_plugin_one.so", "plugin.so"}, {"libtmm_test_blas_plugin_two.so", "other.so"}})
        fs::copy_file(file(from), folder.path() / to);
    for (const std::string mode : {"TMM_MODE=off", "TMM_MODE=use"}) {
        CAPTURE(mode);
        CHECK(run_in(folder.path(), mode, host).status == 0);
    }
}

TEST_CASE("a dispatcher that hands products to the library gets them multiplied") {
    if (is_skipped()) return;
    const std::string blas = kFolder + "/libtmm_test_blas_one.so";
    const std::string both = fmt::format("tmm_test_blas_dispatched {0} {1} {0} {1}", blas, TMM_TEST_SGEMM_LIBRARY);
    for (const std::string mode : {"TMM_MODE=off", "TMM_MODE=use", "TMM_DEVICE=host", "TMM_MODE=record TMM_RECORD=shapes.txt"}) {
        CAPTURE(mode);
        // Opened by the dispatcher alone, and loaded first besides.
        for (const std::string preload : {"LD_PRELOAD= ", ""}) {
            CAPTURE(preload);
            const Finished finished = run(preload + mode, both);
            CHECK_MESSAGE(finished.status == 0, finished.said);
        }
    }
    // There is no other BLAS in the process.
    for (const std::string mode : {"TMM_MODE=off", "TMM_MODE=use"}) {
        const Finished alone = run("LD_PRELOAD= " + mode, fmt::format("tmm_test_blas_dispatched {}", TMM_TEST_SGEMM_LIBRARY));
        CHECK_MESSAGE(alone.status == 0, alone.said);
    }
}

TEST_CASE("a BLAS of plain names with 64-bit integers, or of unknown ones, gets its arguments whole") {
    if (is_skipped()) return;
    for (const char* program : {"wide", "unknown"}) {
        CAPTURE(program);
        check_in_all_modes(fmt::format("tmm_test_blas_{}_program", program));
        const Finished finished = run("TMM_DEVICE=host TMM_LOG=debug", fmt::format("tmm_test_blas_{}_program", program));
        CHECK(finished.said.find("products are left to it") != std::string::npos);
        CHECK(finished.said.find(": by tmm") == std::string::npos);
    }
}

TEST_CASE("descriptors that a program closes, and whose numbers it has again, are its own") {
    if (is_skipped()) return;
    check_in_all_modes("tmm_test_blas_process closes-descriptors");
    for (const char* environment : {"TMM_DEVICE=host TMM_LOG=debug:log", "TMM_DEVICE=host TMM_LOG=debug",
                                    "TMM_DEVICE=host TMM_LOG=debug:/dev/stderr", "TMM_LOG=debug TMM_MODE=record TMM_RECORD=shapes.txt"}) {
        CAPTURE(environment);
        const Folder folder;
        CHECK(run_in(folder.path(), environment, "tmm_test_blas_process closes-descriptors").status == 0);
        if (std::string(environment).ends_with(":log")) CHECK(read(folder.path() / "log").find("43 43 43: by tmm\n") != std::string::npos);
        if (std::string(environment).ends_with("shapes.txt")) CHECK(calls_of(read(folder.path() / "shapes.txt"), 43) == "1");
    }
}

TEST_CASE("a process that never multiplies shows nothing of the library, nor does one whose products are left alone") {
    if (is_skipped()) return;
    for (const int multiplies : {0, 1}) {
        CAPTURE(multiplies);
        const std::string words = fmt::format("tmm_test_blas_process shows-itself {}", multiplies);
        const Finished without = run_without(words);
        REQUIRE(without.status == 0);
        for (const std::string mode : {"TMM_MODE=off TMM_LOG=debug:log TMM_RECORD=shapes.txt", "TMM_MODE=use TMM_LOG=debug:log",
                                       "TMM_DEVICE=host", "TMM_MODE=record TMM_RECORD=shapes.txt"}) {
            CAPTURE(mode);
            if (multiplies && (mode.find("host") != std::string::npos || mode.find("record ") != std::string::npos)) continue;
            const Finished finished = run(mode, words);
            CHECK(finished.status == 0);
            CHECK(finished.said == without.said);
        }
    }
}

TEST_CASE("workers are recorded, however they end, in one file or in one each") {
    if (is_skipped()) return;
    const Folder folder;
    const Finished finished = run_in(folder.path(), "TMM_MODE=record TMM_RECORD=shapes.txt", "tmm_test_blas_process ends workers");
    REQUIRE_MESSAGE(finished.status == 0, finished.said);
    CHECK(finished.said.empty());
    const std::string record = read(folder.path() / "shapes.txt");
    CAPTURE(record);
    CHECK(record.starts_with("# 12 shapes, "));
    CHECK(calls_of(record, 50) == "1");
    CHECK(calls_of(record, 61) == "6");
    for (const int n : {62, 63, 64, 65}) CHECK(calls_of(record, n) == "3");
    // What is there is added to.
    CHECK(run_in(folder.path(), "TMM_MODE=record TMM_RECORD=shapes.txt", "tmm_test_blas_process ends workers").status == 0);
    CHECK(calls_of(read(folder.path() / "shapes.txt"), 65) == "6");
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);

    const Folder each;
    CHECK(run_in(each.path(), "TMM_MODE=record TMM_RECORD=shapes-%p.txt", "tmm_test_blas_process ends workers").status == 0);
    CHECK(std::distance(fs::directory_iterator(each.path()), {}) == 7);
}

TEST_CASE("what was recorded is there whatever ends the program, and where it was started") {
    if (is_skipped()) return;
    for (const auto& [how, status] : {std::pair{"_exit", 0}, {"term", 128 + SIGTERM}, {"kill", 128 + SIGKILL}, {"own", 0}, {"chdir", 0}}) {
        CAPTURE(how);
        const Folder folder;
        fs::create_directory(folder.path() / "other");
        const Finished finished =
            run_in(folder.path(), "TMM_MODE=record TMM_RECORD=shapes.txt", fmt::format("tmm_test_blas_process ends {}", how));
        CHECK_MESSAGE(finished.status == status, finished.said);
        CHECK(calls_of(read(folder.path() / "shapes.txt"), 50) == "1");
        CHECK(fs::is_empty(folder.path() / "other"));
        // SIGTERM's handler is the program's own.
        if (std::string(how) == "own") CHECK(calls_of(read(folder.path() / "shapes.txt"), 51) == "1");
    }
}

TEST_CASE("a record that can't be written is said once, and first") {
    if (is_skipped()) return;
    const Finished finished = run("TMM_MODE=record TMM_RECORD=none/shapes.txt", "tmm_test_blas_process ends says");
    CHECK(finished.status == 0);
    const auto said = finished.said.find("none/shapes.txt can't be written: No such file or directory\n");
    CHECK(said < finished.said.find("the program's last line"));
    CHECK(finished.said.find("can't be written", said + 20) > finished.said.size());
    const Folder folder;
    std::ofstream(folder.path() / "thesis") << "It was a dark and stormy night\n";
    CHECK(run_in(folder.path(), "TMM_MODE=record TMM_RECORD=thesis", "tmm_test_blas_process ends workers").status == 0);
    CHECK(read(folder.path() / "thesis") == "It was a dark and stormy night\n");
}

TEST_CASE("settings that can't be honoured are said once") {
    if (is_skipped()) return;
    const std::pair<const char*, const char*> cases[] = {
        {"TMM_DEVICE=host TMM_LOG=debug:none/log",
         "none/log can't be opened (No such file or directory): its lines go to standard error\n"},
        {"TMM_DEVICE=host TMM_LOG=debug:.", "can't be opened (Is a directory)"},
        {"TMM_DEVICE=host TMM_MODE=tune", "TMM_MODE=tune: libtmm_blas.so tunes nothing"},
        {"TMM_DEVICE=host TMM_RECORD=shapes.txt", "TMM_RECORD has no effect without TMM_MODE=record\n"},
        {"TMM_MODE=record", "TMM_MODE=record needs TMM_RECORD, a file\n"},
        {"TMM_DEVICE=host TMM_LOG=loud", "TMM_LOG=loud is not understood"}};
    for (const auto& [environment, words] : cases) {
        CAPTURE(environment);
        const Finished finished = run(environment, "tmm_test_blas_process ends says");
        CHECK(finished.status == 0);
        CAPTURE(finished.said);
        const auto at = finished.said.find(words);
        CHECK(at < finished.said.size());
        CHECK(finished.said.find(words, at + 1) > finished.said.size());
    }
}

TEST_CASE("a link to a record stays a link") {
    if (is_skipped()) return;
    const Folder folder;
    std::ofstream(folder.path() / "target") << "";
    fs::create_symlink("target", folder.path() / "shapes.txt");
    CHECK(run_in(folder.path(), "TMM_MODE=record TMM_RECORD=shapes.txt", "tmm_test_blas_process ends").status == 0);
    CHECK(fs::is_symlink(folder.path() / "shapes.txt"));
    CHECK(calls_of(read(folder.path() / "target"), 50) == "1");
}
