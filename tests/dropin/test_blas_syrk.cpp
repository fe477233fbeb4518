// libtmm_blas.so in front of OpenBLAS, on the emulated device: ssyrk and dsyrk. tests/preload/blas_syrk_caller.cpp is the program that
// calls, and compares with OpenBLAS's own.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "generator/text/shapes_file.h"
#include "tests/support/temporary_directory.h"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

long lines_with(const std::string& text, const std::string& words) {
    long count = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; at += words.size()) ++count;
    return count;
}

struct Finished {
    std::string said;
    std::string log;
    std::string record;

    long calls() const {
        const auto at = said.find("calls: ");
        return at == std::string::npos ? -1 : std::atol(said.c_str() + at + 7);
    }
};

// The case must pass.
Finished run(const std::string& name, const std::string& environment) {
    const tmm::testing::TemporaryDirectory folder;
    const std::string command = fmt::format(
        "cd '{0}' && LD_PRELOAD='{1}' TMM_CACHE_DIR='{2}/tests/tuner_cache' TMM_DB=/dev/null/none TMM_LOG=debug:'{0}/log' "
        "TMM_RECORD='{0}/record' {3} timeout 300 '{4}' -tc='{5}' > out 2>&1",
        folder.path().string(), TMM_TEST_SGEMM_LIBRARY, TMM_BINARY_DIR, environment, TMM_TEST_SYRK_CALLER, name);
    const int status = std::system(command.c_str());
    Finished finished{.said = read(folder.path() / "out"), .log = read(folder.path() / "log"), .record = read(folder.path() / "record")};
    CAPTURE(finished.said);
    CHECK((WIFEXITED(status) ? WEXITSTATUS(status) : -1) == 0);
    CHECK(finished.said.find(" 1 passed | 0 failed | ") != std::string::npos);
    return finished;
}

bool is_skipped() {
    if (!std::string(TMM_TEST_SYRK_CALLER).empty()) return false;
    MESSAGE("skipped: OpenBLAS is not installed, or this is a build with a sanitizer");
    return true;
}

constexpr const char* kTriangles = "a triangle has the bits of OpenBLAS and the other one stays";

}  // namespace

TEST_CASE("every triangle, operation and layout is served, with OpenBLAS's bits, and the other triangle stays") {
    if (is_skipped()) return;
    const Finished finished = run(kTriangles, "TMM_DEVICE=host");
    // Fortran's function and CBLAS's in both layouts, for each type: triangles, operations, sizes, padding, scalars.
    CHECK(finished.calls() == 2 * 3 * (2 * 3 * 2 * 2 * 3));
    CHECK(lines_with(finished.log, ": by tmm\n") == finished.calls());
    for (const char* shape :
         {"33 33 17 ops=nt result=upper: by tmm\n", "33 33 17 dtype=f64 ops=tn layout=col beta=1 result=lower: by tmm\n"})
        CHECK(lines_with(finished.log, shape) > 0);
}

TEST_CASE("with TMM_INVARIANT=1 they are tmm's problems of that promise") {
    if (is_skipped()) return;
    const Finished finished =
        run("a child*s triangles are right whatever its parent has had multiplied", "TMM_DEVICE=host TMM_INVARIANT=1");
    CHECK(lines_with(finished.log, "33 33 20 ops=nt result=upper invariant=1: by tmm\n") == 1);
}

TEST_CASE("switched off, recording or without a device, the BLAS behind computes them") {
    if (is_skipped()) return;
    for (const char* environment : {"TMM_MODE=off TMM_DEVICE=host", "TMM_MODE=record", "TMM_DEVICE=99"}) {
        CAPTURE(environment);
        const Finished finished = run(kTriangles, environment);
        CHECK(finished.calls() > 0);
        CHECK(lines_with(finished.log, ": by tmm\n") == 0);
    }
    const Finished recorded = run(kTriangles, "TMM_MODE=record");
    const tmm::testing::TemporaryDirectory folder;
    std::ofstream(folder.path() / "shapes.txt") << recorded.record;
    // Triangles, operations, sizes, whether C is read, and types: a product of columns is one of rows, too.
    CHECK(tmm::read_shapes((folder.path() / "shapes.txt").string(), {}).size() == 2 * 2 * 2 * 2 * 2);
}

TEST_CASE("what makes no product of a triangle, and a child's, are right") {
    if (is_skipped()) return;
    CHECK(lines_with(run("what makes no product of it is OpenBLAS*s", "TMM_DEVICE=host").log, ": by tmm\n") == 0);
    CHECK(lines_with(run("a child*s triangles are right whatever its parent has had multiplied", "TMM_DEVICE=host").log, ": by tmm\n") ==
          1);
}
