// libtmm_cublas.so in front of a stand-in for cuBLAS, on the emulated device. tests/preload/cublas_caller_*.cpp are the program that calls;
// its cases, each in a process of its own, compare results and see what reaches the stand-in.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <initializer_list>
#include <iterator>
#include <sstream>
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
    int status = 0;
    std::string said;
    std::string log;
    std::string record;
};

int status_of(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Runs a command with the library loaded first; the environment has further variables.
Finished run_command(const std::string& program, const std::string& environment) {
    const tmm::testing::TemporaryDirectory folder;
    const std::string command = fmt::format(
        "cd '{0}' && LD_PRELOAD='{1}' TMM_CACHE_DIR='{2}/tests/tuner_cache' TMM_DB=/dev/null/none TMM_LOG=debug:'{0}/log' "
        "TMM_RECORD='{0}/record' {3} {4} > out 2>&1",
        folder.path().string(), TMM_TEST_CUBLAS_LIBRARY, TMM_BINARY_DIR, environment, program);
    const int status = status_of(command);
    return {.status = status,
            .said = read(folder.path() / "out"),
            .log = read(folder.path() / "log"),
            .record = read(folder.path() / "record")};
}

// Runs the case of that name.
Finished run(const std::string& name, const std::string& environment) {
    return run_command(fmt::format("'{}' -tc='{}'", TMM_TEST_CUBLAS_CALLER, name), environment);
}

bool is_skipped() {
    if (!std::string(TMM_TEST_CUBLAS_LIBRARY).empty()) return false;
    MESSAGE("skipped: no program that is not built for it can load a library with a sanitizer");
    return true;
}

// A case that found nothing to run would pass, too.
void check_passed(const Finished& finished) {
    CAPTURE(finished.said);
    CHECK(finished.status == 0);
    CHECK(finished.said.find(" 1 passed | 0 failed | ") != std::string::npos);
}

}  // namespace

TEST_CASE("products of every kind are served, with the bits of the loop behind") {
    if (is_skipped()) return;
    for (const char* name : {"products have the loop's bits", "products of padded and unaligned matrices have the loop's bits",
                             "products without k and with alpha 0 scale C", "alpha 0 hides A and B from every product but that of cublasLt",
                             "batches have the loop's bits", "batches by arrays of addresses have the loop's bits",
                             "triangles have the loop's bits and the other one stays", "cublasLtMatmul does not look at C where beta is 0",
                             "epilogues of cublasLt have the loop's bits", "a GELU of cublasLt is the one with tanh"}) {
        CAPTURE(name);
        std::string in_shell = name;
        if (const auto at = in_shell.find('\''); at != std::string::npos) in_shell.replace(at, 1, "*");
        const Finished finished = run(in_shell, "TMM_DEVICE=host");
        check_passed(finished);
        CHECK(lines_with(finished.log, ": by tmm\n") > 0);
    }
}

TEST_CASE("what tmm does not take reaches cuBLAS as it came, and once") {
    if (is_skipped()) return;
    for (const char* name :
         {"what tmm does not multiply reaches cuBLAS with its arguments",
          "triangles and arrays of addresses that tmm does not take reach cuBLAS with their arguments",
          "a handle*s state that tmm does not follow leaves products to cuBLAS",
          "what cublasLtMatmul is asked for besides a product leaves it to cuBLAS", "what cuBLAS calls of its own is left to it"}) {
        CAPTURE(name);
        const Finished finished = run(name, "TMM_DEVICE=host");
        check_passed(finished);
        CHECK(lines_with(finished.log, ": by tmm\n") == 0);
        CHECK(lines_with(finished.log, ": by cuBLAS") > 0);
    }
}

TEST_CASE("of a matrix that meets its own transpose one triangle is computed, and of no other product") {
    if (is_skipped()) return;
    const Finished own = run("a matrix that meets its own transpose has the loop*s bits", "TMM_DEVICE=host");
    check_passed(own);
    CHECK(lines_with(own.log, " result=symmetric: by tmm\n") > 0);
    CHECK(lines_with(own.log, " result=symmetric: by tmm\n") == lines_with(own.log, ": by tmm\n"));
    CHECK(lines_with(own.log,
                     "cublasGemmStridedBatchedEx 6 6 4 ops=nt layout=col batch=3 stride_a=31 stride_b=31 stride_c=40 "
                     "result=symmetric: by tmm\n") == 1);
    const Finished others = run("what only looks like a matrix that meets its own transpose has the loop*s bits", "TMM_DEVICE=host");
    check_passed(others);
    CHECK(lines_with(others.log, ": by tmm\n") == 2 * 8);
    CHECK(lines_with(others.log, "result=") == 0);
}

TEST_CASE("with TMM_INVARIANT=1 a column's bits hang on no other one, from the first call on, and none is cuBLAS's") {
    if (is_skipped()) return;
    const char* const name = "a column*s bits hang on no other one";
    // Elsewhere the first calls of a shape are cuBLAS's, and shapes that nobody knows stay with it.
    for (const char* environment : {"TMM_INVARIANT=1 TMM_DEVICE=host", "TMM_INVARIANT=1 TMM_DEVICE=host TMM_SETTLED=0",
                                    "TMM_INVARIANT=1 TMM_DEVICE=host TMM_SETTLED=1"}) {
        CAPTURE(environment);
        const Finished finished = run(name, environment);
        check_passed(finished);
        CHECK(lines_with(finished.log, "cublasSgemm_v2 9 7 1500 ops=tn layout=col invariant=1: by tmm\n") == 1);
    }
    CHECK(run(name, "TMM_DEVICE=host TMM_SETTLED=0").status != 0);
    const Finished recorded = run("some shapes are called more often than others", "TMM_MODE=record TMM_DEVICE=host TMM_INVARIANT=1");
    check_passed(recorded);
    CHECK(lines_with(recorded.record, " invariant=1  # ") == 4);
}

TEST_CASE("math modes and compute types become compute modes that promise as much") {
    if (is_skipped()) return;
    const Finished finished = run("the handle*s math mode and the compute type decide what a product promises", "TMM_DEVICE=host");
    check_passed(finished);
    // Default, tensor operations, and default without sums of reduced precision.
    CHECK(lines_with(finished.log, "cublasSgemm_v2 4 4 4 layout=col: by tmm\n") == 3);
    CHECK(lines_with(finished.log, "cublasSgemm_v2 4 4 4 compute=f32_strict layout=col: by tmm\n") == 1);
    CHECK(lines_with(finished.log, "cublasSgemm_v2 4 4 4 compute=tf32 layout=col: by tmm\n") == 2);
    CHECK(lines_with(finished.log, "cublasGemmEx 4 4 4 compute=f32_strict layout=col: by tmm\n") == 1);
    CHECK(lines_with(finished.log, "cublasGemmEx 4 4 4 compute=tf32 layout=col: by tmm\n") == 1);
    CHECK(lines_with(finished.log, "cublasGemmEx 5 3 4 dtype=f64 layout=col: by tmm\n") == 6);
    CHECK(lines_with(finished.log, "cublasDgemm_v2 5 3 4 dtype=f64 layout=col: by tmm\n") == 6);
    // Each shape is explained once, where it is first called.
    CHECK(lines_with(finished.log, "4 4 4 layout=col: by tmm, ") == 1);
}

TEST_CASE("where NVIDIA_TF32_OVERRIDE=0 forbids TF32 no product is rounded to it") {
    if (is_skipped()) return;
    const Finished finished =
        run("the handle*s math mode and the compute type decide what a product promises", "TMM_DEVICE=host NVIDIA_TF32_OVERRIDE=0");
    check_passed(finished);
    CHECK(lines_with(finished.log, "compute=tf32") == 0);
    CHECK(lines_with(finished.log, "cublasSgemm_v2 4 4 4 layout=col: by tmm\n") == 5);
    CHECK(lines_with(finished.log, "cublasSgemm_v2 4 4 4 compute=f32_strict layout=col: by tmm\n") == 1);
    CHECK(lines_with(finished.log, "cublasGemmEx 4 4 4 layout=col: by tmm\n") == 1);
}

TEST_CASE("switched off, recording, without a device or memory, or told nonsense, the library changes nothing") {
    if (is_skipped()) return;
    for (const char* environment : {"TMM_MODE=off TMM_DEVICE=host", "TMM_MODE=record TMM_DEVICE=host", "TMM_DEVICE=99", "TMM_DEVICE=0",
                                    "TMM_DEVICE=-1 TMM_MODE=fast", "TMM_MODE=record TMM_RECORD=", "TMM_WORKSPACE_LIMIT=lots"}) {
        CAPTURE(environment);
        const Finished finished = run("every call reaches cuBLAS once", environment);
        check_passed(finished);
        CHECK(lines_with(finished.log, ": by tmm\n") == 0);
    }
    CHECK(run("every call reaches cuBLAS once", "TMM_WORKSPACE_LIMIT=lots").log.find("TMM_WORKSPACE_LIMIT=lots is not understood") !=
          std::string::npos);
    CHECK(run("every call reaches cuBLAS once", "TMM_MODE=off").log.empty());
}

TEST_CASE("a library that was opened, and keeps its cuBLAS to itself, is served as well") {
    if (is_skipped()) return;
    // It is opened and closed so often, and its cuBLAS with it.
    const int rounds = std::getenv("TMM_TEST_FULL") ? 1000 : 20;
    const std::string program = fmt::format("'{}' '{}' {}", TMM_TEST_CUBLAS_PLUGIN_HOST, TMM_TEST_CUBLAS_PLUGIN, rounds);
    const Finished served = run_command(program, "TMM_DEVICE=host");
    CHECK_MESSAGE(served.status == 0, served.said);
    CHECK(lines_with(served.log, "cublasSgemm_v2 2 2 2 layout=col: by tmm\n") == rounds);
    for (const char* environment : {"TMM_MODE=off", "TMM_DEVICE=99"}) {
        const Finished passed = run_command(program, environment);
        CHECK_MESSAGE(passed.status == 0, passed.said);
        CHECK(lines_with(passed.log, ": by tmm\n") == 0);
    }
}

TEST_CASE("on a GPU nothing is done for a stream that is captured, or whose state nobody knows") {
    if (is_skipped()) return;
    const std::string driver = std::string("LD_LIBRARY_PATH=") + TMM_TEST_CUDA_FOLDER;
    const Finished finished = run("a call reaches cuBLAS whatever its stream does", driver);
    check_passed(finished);
    CHECK(lines_with(finished.log, ": by cuBLAS, since there was no call of it before the stream capture\n") == 3);
    CHECK(lines_with(finished.log, ": by cuBLAS, since its stream's state is not known\n") == 9);
    // The device that can't be opened is tried once, beside the program, which may have ended before.
    CHECK(lines_with(finished.log, "all products go to cuBLAS: the CUDA driver is too old") <= 1);
    CHECK(lines_with(finished.log, "layout=col: by cuBLAS\n") == 6);

    // Another GPU is named: this one's products are left alone.
    const Finished other = run("a call reaches cuBLAS whatever its stream does", driver + " TMM_DEVICE=1");
    check_passed(other);
    CHECK(other.log.find("go to cuBLAS") == std::string::npos);

    const Finished recorded = run("a call reaches cuBLAS whatever its stream does", driver + " TMM_MODE=record");
    check_passed(recorded);
    // The second to the fifth call, which would be timed, are on streams on which nothing may wait.
    CHECK(recorded.record == "# 1 shapes, 2.16e+03 FLOP; those of most work first\n5 3 4 layout=col  # 18 calls, 100.0% of the work\n");
    // Two of three calls took 250 ms each.
    const Finished timed = run("a call on a stream reaches cuBLAS", driver + " TMM_MODE=record");
    check_passed(timed);
    CHECK(timed.record ==
          "# 1 shapes, 0.750 s of products; the longest first\n5 3 4 layout=col  # 3 calls, 0.5 s in 2 of them, 100.0% of the time\n");
}

TEST_CASE("a process may fork and cancel threads while they multiply") {
    if (is_skipped()) return;
    for (const char* environment : {"TMM_DEVICE=host TMM_LOG=warn", "TMM_MODE=off", "TMM_MODE=record TMM_DEVICE=host TMM_LOG=warn"}) {
        CAPTURE(environment);
        check_passed(run("children call what stands behind while threads of their parent multiply", environment));
        check_passed(run("threads are cancelled behind their products", environment));
    }
}

TEST_CASE("what cuBLAS throws passes") {
    if (is_skipped()) return;
    for (const char* environment : {"TMM_MODE=use", "TMM_MODE=off", "TMM_MODE=record TMM_DEVICE=host"}) {
        CAPTURE(environment);
        check_passed(run("what cuBLAS throws reaches the program", environment));
    }
}

TEST_CASE("the descriptors of the real cublasLt are understood") {
    if (is_skipped()) return;
    if (std::string(TMM_TEST_CUBLAS_LT_PROGRAM).empty()) {
        MESSAGE("skipped: no toolkit with cublasLt.h and libcublasLt.so was found");
        return;
    }
    const Finished finished = run_command(fmt::format("'{}'", TMM_TEST_CUBLAS_LT_PROGRAM), "TMM_DEVICE=host");
    CHECK_MESSAGE(finished.status == 0, finished.said);
    CHECK(lines_with(finished.log, ": by tmm\n") == 12);
    for (const char* shape : {"layout=col lda=4 ldc=6: by tmm\n", "compute=tf32 ops=tn layout=col lda=4 ldc=6: by tmm\n",
                              "compute=f32_strict ops=tn layout=col lda=4 ldc=6 epilogue=bias_rows+relu: by tmm\n"})
        CHECK(lines_with(finished.log, shape) >= 1);
}

TEST_CASE("threads that call at once, the same shapes and others, have the loop's bits") {
    if (is_skipped()) return;
    const Finished finished = run("16 threads multiply at once", "TMM_DEVICE=host");
    check_passed(finished);
    CHECK(lines_with(finished.log, ": by tmm\n") == 16 * 20);
    // Each shape was decided once.
    CHECK(lines_with(finished.log, ": by tmm, ") == 8);
}

TEST_CASE("what is recorded is a shapes file of the products, with their calls and their time, that tmm-tune takes") {
    if (is_skipped()) return;
    const Finished finished = run("some shapes are called more often than others", "TMM_MODE=record TMM_DEVICE=host");
    check_passed(finished);
    CHECK(lines_with(finished.record, "# 4 shapes, 0.0") == 1);
    for (const char* line :
         {"\n8 8 8 dtype=f16 ctype=f32 ops=tt layout=col lda=10 ldb=10 ldc=10 beta=1  # 1 calls, ", "\n4 4 4 layout=col  # 3 calls, ",
          "\n2 3 4 compute=tf32 layout=col batch=3 stride_a=0 stride_c=7  # 2 calls, ", "\n6 6 6 dtype=f64 ops=nt layout=col  # 4 calls, "})
        CHECK(lines_with(finished.record, line) == 1);
    CHECK(lines_with(finished.record, "% of the time\n") == 4);
    const tmm::testing::TemporaryDirectory folder;
    const fs::path file = folder.path() / "shapes.txt";
    std::ofstream(file) << finished.record;
    CHECK(tmm::read_shapes(file.string(), {}).size() == 4);
    const std::string tune = fmt::format("'{0}/tools/tmm-tune' --gpu host --db '{1}/t.db' --shapes '{2}' --dry-run > '{1}/out' 2>&1",
                                         TMM_BINARY_DIR, folder.path().string(), file.string());
    CHECK_MESSAGE(status_of(tune) == 0, read(folder.path() / "out"));
}

TEST_CASE("in TMM_MODE=tune a program's shapes are tuned beside it, and their winners used without a new start") {
    if (is_skipped()) return;
    const tmm::testing::TemporaryDirectory folder;
    // The library and the tool as they are installed.
    for (const char* name : {"lib", "bin"}) fs::create_directory(folder.path() / name);
    fs::create_symlink(TMM_TEST_CUBLAS_LIBRARY, folder.path() / "lib/libtmm_cublas.so");
    fs::create_symlink(TMM_BINARY_DIR "/tools/tmm-tune", folder.path() / "bin/tmm-tune");
    const auto command = [&](const char* library) {
        return fmt::format(
            "cd '{0}' && LD_PRELOAD='{2}' TMM_CACHE_DIR='{1}/tests/tuner_cache' TMM_DB='{0}/tmm.db' TMM_LOG=info:'{0}/log' TMM_MODE=tune "
            "TMM_DEVICE=host '{3}' -tc='a program goes on until it is told to end' > out 2>&1",
            folder.path().string(), TMM_BINARY_DIR, library, TMM_TEST_CUBLAS_CALLER);
    };
    auto program = std::async(std::launch::async, [&] { return status_of(command((folder.path() / "lib/libtmm_cublas.so").c_str())); });
    const auto log = [&] { return read(folder.path() / "log"); };
    const auto goes_on = [&] { return program.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready; };
    while (goes_on() && log().find(": by tmm, exact: ") == std::string::npos && log().find("TMM_MODE=tune") == std::string::npos) continue;
    std::ofstream(folder.path() / "end") << "";
    check_passed({.status = program.get(), .said = read(folder.path() / "out"), .log = {}, .record = {}});
    CAPTURE(log());
    const std::size_t guess = log().find("5 3 4 layout=col: by tmm, predicted: ");
    const std::size_t ended = log().find("tmm-tune ended with status 0");
    CHECK(guess < ended);
    CHECK(ended < log().find("5 3 4 layout=col: by tmm, exact: "));
    CHECK(log().find("5 3 4 layout=col: by tmm, exact: ") != std::string::npos);
    fs::remove(folder.path() / "log");

    // Without the tool the program is served as it is by default.
    CHECK(status_of(command(TMM_TEST_CUBLAS_LIBRARY)) == 0);
    CHECK(log().find("TMM_MODE=tune needs tmm-tune") != std::string::npos);
    CHECK(log().find("layout=col: by tmm, exact: ") != std::string::npos);
}

TEST_CASE("a set-user-ID program hears nothing of what its caller's environment says") {
    if (is_skipped()) return;
    const tmm::testing::TemporaryDirectory folder;
    struct statvfs file_system {};
    if (geteuid() != 0 || statvfs(folder.path().c_str(), &file_system) != 0 || (file_system.f_flag & ST_NOSUID) != 0) {
        MESSAGE("skipped: only root can make a set-user-ID program of another user, and not in every directory of temporary files");
        return;
    }
    fs::permissions(folder.path(), fs::perms::all);
    // The loader leaves LD_PRELOAD out for such programs; this one is linked with the library. The other user may not read the build, as
    // in a closed home directory, which TMPDIR is not: all that the program needs is copied.
    const fs::path program = folder.path() / "program";
    std::string link =
        fmt::format("{} -o '{}' -Wl,--no-as-needed '-Wl,-rpath,{}'", TMM_TEST_CUBLAS_LINK, program.string(), folder.path().string());
    for (const fs::path library : std::initializer_list<const char*> TMM_TEST_CUBLAS_LIBRARIES) {
        const fs::path copy = folder.path() / library.filename();
        fs::copy_file(library, copy);
        link += " '" + copy.string() + "'";
    }
    REQUIRE(status_of(link) == 0);
    const auto run_as_caller = [&] {
        fs::remove(folder.path() / "record");
        fs::remove(folder.path() / "log");
        const std::string command = fmt::format(
            "cd '{0}' && TMM_MODE=record TMM_RECORD='{0}/record' TMM_LOG=debug:'{0}/log' TMM_DEVICE=host setpriv --reuid=12345 "
            "--regid=12345 --clear-groups '{0}/program' -tc='every call reaches cuBLAS once' > out 2>&1",
            folder.path().string());
        const int status = status_of(command);
        check_passed({.status = status, .said = read(folder.path() / "out"), .log = {}, .record = {}});
    };
    run_as_caller();
    CHECK(read(folder.path() / "record").find("5 3 4 layout=col  # 6 calls") != std::string::npos);
    CHECK(fs::exists(folder.path() / "log"));
    REQUIRE(chown(program.c_str(), 54321, 54321) == 0);
    REQUIRE(chmod(program.c_str(), 04755) == 0);
    run_as_caller();
    CHECK_FALSE(fs::exists(folder.path() / "record"));
    CHECK_FALSE(fs::exists(folder.path() / "log"));
}
