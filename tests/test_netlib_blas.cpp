// xblat3s, the BLAS's own test program of single-precision matrix products, against tmm on the host device: Debian's package libblas-test
// has it, and TMM_TEST_XBLAT3S names it elsewhere. It calls sgemm_ with every combination of sizes, transposes, alpha, beta and padding,
// compares each element with its own sum, looks at what must not change, and calls with each argument wrong.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support_temporary_directory.h"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// Empty where there is none.
fs::path test_program() {
    if (const char* named = std::getenv("TMM_TEST_XBLAT3S")) return named;
    std::error_code error;
    for (const auto& folder : fs::directory_iterator("/usr/lib", error)) {
        const fs::path program = folder.path() / "blas" / "xblat3s";
        if (fs::exists(program, error)) return program;
    }
    return {};
}

// A value a line; whatever follows it is for the reader.
constexpr const char* kInstructions =
    "'summary' file of the summary\n6 its unit\n'none' file of calls\n-1 its unit: none\nF\nF to go on after a failure\n"
    "T to call with wrong arguments\n16.0 the largest ratio of error and bound\n6 sizes\n0 1 2 3 5 9\n3 of alpha\n0.0 1.0 0.7\n"
    "3 of beta\n0.0 1.0 1.3\nSGEMM  T\n";

struct Finished {
    int status = 0;
    std::string summary;
    long calls = 0;
};

Finished run(const fs::path& program) {
    const tmm::testing::TemporaryDirectory folder;
    std::ofstream(folder.path() / "in") << kInstructions;
    const std::string command = fmt::format(
        "cd '{0}' && LD_PRELOAD='{1}' TMM_CACHE_DIR='{2}/tests/tuner_cache' TMM_TEST_SGEMM_CALLS='{0}/calls' '{3}' < in > out 2>&1",
        folder.path().string(), TMM_TEST_SGEMM_LIBRARY, TMM_BINARY_DIR, program.string());
    const int status = std::system(command.c_str());
    const std::string calls = read(folder.path() / "calls");
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .summary = read(folder.path() / "summary") + read(folder.path() / "out"),
            .calls = calls.empty() ? 0 : std::stol(calls)};
}

}  // namespace

TEST_CASE("netlib's xblat3s finds no fault in SGEMM") {
    const fs::path program = test_program();
    if (std::string(TMM_TEST_SGEMM_LIBRARY).empty()) {
        MESSAGE("skipped: no program that is not built for it can load a library with a sanitizer");
        return;
    }
    if (program.empty()) {
        MESSAGE("skipped: no xblat3s here; apt-get install libblas-test, or set TMM_TEST_XBLAT3S");
        return;
    }
    const Finished finished = run(program);
    CAPTURE(finished.summary);
    CHECK(finished.status == 0);
    CHECK(finished.summary.find("SGEMM  PASSED THE TESTS OF ERROR-EXITS") != std::string::npos);
    CHECK(finished.summary.find("SGEMM  PASSED THE COMPUTATIONAL TESTS") != std::string::npos);
    CHECK(finished.summary.find("FAIL") == std::string::npos);
    CHECK(finished.summary.find("SUSPECT") == std::string::npos);
    MESSAGE(finished.calls << " calls");
    // Six sizes for each of m, n and k, three ways to read A and B, three alphas and betas, and the wrong arguments.
    CHECK(finished.calls >= 6 * 6 * 6 * 9 * 9);
}
