// xblat3s and xscblat3, xblat3d and xdcblat3, the BLAS's own test programs of matrix products in single and double precision, unchanged,
// with libtmm_blas.so on the host device: Debian's package libblas-test has them, and TMM_TEST_XBLAT3S names the first elsewhere. They call
// SGEMM, SSYRK, DGEMM or DSYRK with every combination of sizes, transposes, triangles, alpha, beta and padding, compare each element with
// their own sum, look at what must not change, and call with each argument wrong.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <tuple>

#include "generator/text/shapes_file.h"
#include "tests/support/temporary_directory.h"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// Empty where there is none.
fs::path test_program(const char* name) {
    const char* named = std::getenv("TMM_TEST_XBLAT3S");
    if (named) return fs::path(named).parent_path() / name;
    std::error_code error;
    for (const auto& folder : fs::directory_iterator("/usr/lib", error)) {
        const fs::path program = folder.path() / "blas" / name;
        if (fs::exists(program, error)) return program;
    }
    return {};
}

// A value a line; whatever follows it is for the reader.
std::string fortran_instructions(const std::string& routine) {
    return "'summary' file of the summary\n6 its unit\n'none' file of calls\n-1 its unit: none\nF\nF to go on after a failure\n"
           "T to call with wrong arguments\n16.0 the largest ratio of error and bound\n6 sizes\n0 1 2 3 5 9\n3 of alpha\n0.0 1.0 0.7\n"
           "3 of beta\n0.0 1.0 1.3\n" +
           routine + "  T\n";
}
std::string cblas_instructions(const std::string& routine) {
    return "'none' file of calls\n-1 its unit: none\nF\nF to go on after a failure\nT to call with wrong arguments\n2 both layouts\n"
           "16.0 the largest ratio of error and bound\n6 sizes\n0 1 2 3 5 9\n3 of alpha\n0.0 1.0 0.7\n3 of beta\n0.0 1.0 1.3\n" +
           routine + "  T\n";
}
// Five sizes other than 0 for each of m, n and k, three ways to read A and B, two alphas other than 0, three betas.
constexpr long kProducts = 5 * 5 * 5 * 9 * 2 * 3;
// The same of SSYRK: n and k, three ways to read A, two triangles.
constexpr long kTriangles = 5 * 5 * 3 * 2 * 2 * 3;

struct Routine {
    const char* program;
    const char* name;
    long products;
};
constexpr Routine kFortran[] = {
    {"xblat3s", "SGEMM", kProducts}, {"xblat3d", "DGEMM", kProducts}, {"xblat3s", "SSYRK", kTriangles}, {"xblat3d", "DSYRK", kTriangles}};
constexpr Routine kCblas[] = {{"xscblat3", "cblas_sgemm", kProducts},
                              {"xdcblat3", "cblas_dgemm", kProducts},
                              {"xscblat3", "cblas_ssyrk", kTriangles},
                              {"xdcblat3", "cblas_dsyrk", kTriangles}};

struct Finished {
    int status = 0;
    std::string said;
    std::string log;
    std::string record;
};

Finished run(const fs::path& program, const std::string& instructions, const std::string& environment) {
    const tmm::testing::TemporaryDirectory folder;
    std::ofstream(folder.path() / "in") << instructions;
    // The C program needs the BLAS that it came with, which stands beside it.
    const std::string command = fmt::format(
        "cd '{0}' && LD_LIBRARY_PATH='{1}' LD_PRELOAD='{2}' TMM_CACHE_DIR='{3}/tests/tuner_cache' TMM_DB=/dev/null/none "
        "TMM_LOG=debug:'{0}/log' TMM_RECORD='{0}/record' {4} '{5}' < in > out 2>&1",
        folder.path().string(), program.parent_path().string(), TMM_TEST_SGEMM_LIBRARY, TMM_BINARY_DIR, environment, program.string());
    const int status = std::system(command.c_str());
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .said = read(folder.path() / "summary") + read(folder.path() / "out"),
            .log = read(folder.path() / "log"),
            .record = read(folder.path() / "record")};
}

long lines_with(const std::string& text, const std::string& words) {
    long count = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; at += words.size()) ++count;
    return count;
}

// Empty where the program is not here, which is said.
fs::path program_or_message(const char* name) {
    if (std::string(TMM_TEST_SGEMM_LIBRARY).empty()) {
        MESSAGE("skipped: no program that is not built for it can load a library with a sanitizer");
        return {};
    }
    const fs::path program = test_program(name);
    if (program.empty()) MESSAGE("skipped: no " << name << " here; apt-get install libblas-test, or set TMM_TEST_XBLAT3S");
    return program;
}

void check_passed(const Finished& finished, const std::string& routine) {
    CAPTURE(finished.said);
    CHECK(finished.status == 0);
    CHECK(finished.said.find(routine + "  PASSED THE TESTS OF ERROR-EXITS") != std::string::npos);
    CHECK(finished.said.find("FAIL") == std::string::npos);
    CHECK(finished.said.find("SUSPECT") == std::string::npos);
}

}  // namespace

TEST_CASE("netlib's programs find no fault in SGEMM, DGEMM, SSYRK and DSYRK") {
    for (const Routine& routine : kFortran) {
        const fs::path program = program_or_message(routine.program);
        if (program.empty()) continue;
        const Finished finished = run(program, fortran_instructions(routine.name), "TMM_DEVICE=host");
        check_passed(finished, routine.name);
        CHECK(finished.said.find(std::string(routine.name) + "  PASSED THE COMPUTATIONAL TESTS (") != std::string::npos);
        CHECK(lines_with(finished.log, ": by tmm") >= routine.products);
    }
}

TEST_CASE("netlib's programs find no fault in cblas_sgemm, cblas_dgemm, cblas_ssyrk and cblas_dsyrk") {
    for (const Routine& routine : kCblas) {
        const fs::path program = program_or_message(routine.program);
        if (program.empty()) continue;
        const Finished finished = run(program, cblas_instructions(routine.name), "TMM_DEVICE=host");
        check_passed(finished, routine.name);
        CHECK(finished.said.find("PASSED THE COLUMN-MAJOR COMPUTATIONAL TESTS") != std::string::npos);
        CHECK(finished.said.find("PASSED THE ROW-MAJOR    COMPUTATIONAL TESTS") != std::string::npos);
        CHECK(lines_with(finished.log, ": by tmm") >= 2 * routine.products);
    }
}

TEST_CASE("what is recorded is a shapes file of every product, and nothing else changes") {
    const fs::path program = program_or_message("xblat3s");
    if (program.empty()) return;
    // Sizes from five, the ways to lie, triangles, and whether C is read.
    for (const auto& [routine, products, shapes] :
         {std::tuple("SGEMM", kProducts, 5 * 5 * 5 * 4 * 2), std::tuple("SSYRK", kTriangles, 5 * 5 * 2 * 2 * 2)}) {
        CAPTURE(routine);
        const Finished finished = run(program, fortran_instructions(routine), "TMM_DEVICE=host TMM_MODE=record");
        check_passed(finished, routine);
        CHECK(lines_with(finished.log, ": by tmm") == 0);
        const tmm::testing::TemporaryDirectory folder;
        std::ofstream(folder.path() / "shapes.txt") << finished.record;
        CHECK(finished.record.find("dtype=f64") == std::string::npos);
        CHECK(tmm::read_shapes((folder.path() / "shapes.txt").string(), {}).size() == static_cast<std::size_t>(shapes));
        long calls = 0;
        std::istringstream lines(finished.record);
        for (std::string line; std::getline(lines, line);)
            if (const auto at = line.find("  # "); at != std::string::npos) calls += std::stol(line.substr(at + 4));
        CHECK(calls >= products);
    }
}

TEST_CASE("switched off, without a device, or told nonsense, the library changes nothing") {
    if (program_or_message("xblat3s").empty()) return;
    for (const char* environment :
         {"TMM_MODE=off TMM_DEVICE=host", "TMM_DEVICE=99", "TMM_DEVICE=-1 TMM_MODE=fast", "TMM_MODE=record TMM_RECORD="}) {
        CAPTURE(environment);
        for (const Routine& routine : kFortran) {
            const Finished finished = run(test_program(routine.program), fortran_instructions(routine.name), environment);
            check_passed(finished, routine.name);
            CHECK(lines_with(finished.log, ": by tmm") == 0);
        }
    }
}
