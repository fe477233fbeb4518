// The tests of a GPU that look at tmm's host code alone, with a stand-in for the CUDA driver that shows one GPU: what a call allocates,
// locks and waits for, and many threads at once.
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

// Runs a test program of this build; what it says.
void check_passes(const char* program, const char* cases) {
    if (tmm::nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    const tmm::testing::TemporaryDirectory folder;
    const std::string output = (folder.path() / "out").string();
    // ThreadSanitizer sees nothing of how NVRTC's threads meet.
    const std::string unseen = (folder.path() / "unseen").string();
    std::ofstream(unseen) << "race:libnvrtc\n";
    // The library's own path may lead to NVRTC.
    const char* const before = std::getenv("LD_LIBRARY_PATH");
    const std::string command =
        fmt::format("TSAN_OPTIONS='suppressions={}' LD_LIBRARY_PATH='{}:{}' TMM_TEST_STAND_IN=1 '{}/tests/{}' > '{}' 2>&1", unseen,
                    TMM_TEST_GPU_STAND_IN, before ? before : "", TMM_BINARY_DIR, program, output);
    const int status = std::system(command.c_str());
    std::ifstream file(output);
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    CAPTURE(said);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(said.find(cases) != std::string::npos);
    CHECK(said.find("no GPU here") == std::string::npos);
    CHECK(said.find("ThreadSanitizer") == std::string::npos);
}

}  // namespace

#ifdef TMM_TEST_COUNTED
TEST_CASE("calls behind the first allocate nothing, lock nothing, open nothing and wait for nothing") {
    check_passes("gpu_hot_path", " 2 passed | 0 failed");
}
#endif

TEST_CASE("a bundle of a GPU's kernels in a process without NVRTC") {
    check_passes("gpu_bundle", " 1 passed | 0 failed");
}

TEST_CASE("threads with handles, plans, streams and captures of a GPU") {
    check_passes("gpu_threads", " 4 passed | 0 failed");
}
