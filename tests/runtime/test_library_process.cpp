// libtmm.so, as programs load it, in processes that fork and cancel threads. tests/preload/library_process.cpp is the program.
// TMM_TEST_FULL=1 does each a thousand times.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "generator/compile/compiler.h"
#include "tests/support/temporary_directory.h"

namespace {

const int kRounds = std::getenv("TMM_TEST_FULL") ? 1000 : 60;

void check_passes(const std::string& words, const std::string& environment = {}) {
    const tmm::testing::TemporaryDirectory folder;
    const std::string output = (folder.path() / "said").string();
    const std::string command = fmt::format("env TMM_CACHE_DIR='{}/test_cache' {} timeout {} '{}' {} > '{}' 2>&1", TMM_BINARY_DIR,
                                            environment, std::getenv("TMM_TEST_FULL") ? 900 : 100, TMM_TEST_LIBRARY_PROCESS, words, output);
    const int status = std::system(command.c_str());
    std::ifstream file(output);
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    CAPTURE(words);
    CAPTURE(said);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace

TEST_CASE("a child is served on the host, or told that it can't be, and never hangs") {
    check_passes(fmt::format("forks {} host", kRounds));
    // The thread compiles meanwhile.
    const tmm::testing::TemporaryDirectory folder;
    check_passes("forks 20 host", fmt::format("TMM_CACHE_DIR='{}'", folder.path().string()));
}

TEST_CASE("threads are cancelled behind a call") {
    check_passes(fmt::format("cancels {} host", kRounds));
}

TEST_CASE("what a log's callback throws is not the library's") {
    check_passes("throws 0 host");
}

// The stand-in ends a child that comes near it.
TEST_CASE("a child leaves its parent's GPU alone") {
    if (tmm::nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    const char* const before = std::getenv("LD_LIBRARY_PATH");
    const std::string environment = fmt::format("LD_LIBRARY_PATH='{}:{}' TMM_TEST_STAND_IN=1", TMM_TEST_GPU_STAND_IN, before ? before : "");
    check_passes(fmt::format("forks {} 0", kRounds), environment);
    check_passes(fmt::format("cancels {} 0", kRounds), environment);
}
