// libtmm_cublas.so in front of a stand-in for cuBLAS, on the emulated device, as shapes that nobody tuned race. The stand-in takes as long
// as TMM_TEST_CUBLAS_US says. tests/preload/cublas_caller_races.cpp is the program that calls.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temporary_directory.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* kShape = "48 40 32 layout=col";
constexpr const char* kSmallShape = "8 8 8 layout=col";
constexpr const char* kSmall = "TMM_TEST_SMALL=1 ";
// As slow as no kernel is, and at once.
constexpr const char* kSlow = "TMM_TEST_CUBLAS_US=30000 ";

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
    // Returns how many of its last ten calls the library behind took.
    long calls_behind() const {
        const auto at = said.find("calls behind: ");
        return at == std::string::npos ? -1 : std::atol(said.c_str() + at + 14);
    }
};

class User {
public:
    // until: what the log must say before the program ends. The case that is run must pass.
    Finished run(const std::string& environment, const std::string& until,
                 const char* name = "a program multiplies until its log says so") {
        fs::remove(folder_.path() / "log");
        const std::string command = fmt::format(
            "cd '{0}' && LD_PRELOAD='{1}' TMM_CACHE_DIR='{2}/tests/tuner_cache' TMM_DB='{0}/tmm.db' TMM_LOG=info:'{0}/log' TMM_DEVICE=host "
            "TMM_TEST_UNTIL='{3}' {4} timeout 100 '{5}' -tc='{6}' > out 2>&1",
            folder_.path().string(), TMM_TEST_CUBLAS_LIBRARY, TMM_BINARY_DIR, until, environment, TMM_TEST_CUBLAS_CALLER, name);
        const int status = std::system(command.c_str());
        Finished finished{.said = read(folder_.path() / "out"), .log = read(folder_.path() / "log")};
        CAPTURE(finished.said);
        CAPTURE(finished.log);
        CHECK((WIFEXITED(status) ? WEXITSTATUS(status) : -1) == 0);
        CHECK(finished.said.find(" 1 passed | 0 failed | ") != std::string::npos);
        return finished;
    }
    std::string list() const {
        const std::string command =
            fmt::format("'{0}/tools/tmm-db' ls --db '{1}/tmm.db' > '{1}/list' 2>&1", TMM_BINARY_DIR, folder_.path().string());
        (void)std::system(command.c_str());
        return read(folder_.path() / "list");
    }
    bool has_database() const { return fs::exists(folder_.path() / "tmm.db"); }

private:
    tmm::testing::TemporaryDirectory folder_;
};

bool is_skipped() {
    if (!std::string(TMM_TEST_CUBLAS_LIBRARY).empty()) return false;
    MESSAGE("skipped: no program that is not built for it can load a library with a sanitizer");
    return true;
}

}  // namespace

TEST_CASE("where the library is faster it serves, and the next process knows") {
    if (is_skipped()) return;
    User user;
    const Finished first = user.run(std::string(kSmall) + "TMM_SETTLED=0", std::string(kSmallShape) + ": by cuBLAS, since tmm took ");
    CHECK(first.calls_behind() == 10);
    CHECK(user.list().find("raced") != std::string::npos);
    for (const char* settled : {"TMM_SETTLED=0", "TMM_SETTLED=1"}) {
        const Finished next =
            user.run(std::string(kSmall) + settled, std::string(kSmallShape) + ": by cuBLAS, since it was the faster one when they raced");
        CHECK(next.calls_behind() == 10);
        CHECK(lines_with(next.log, ": by tmm") == 0);
    }
}

TEST_CASE("where tmm is faster it serves from then on, and in the next process from the start") {
    if (is_skipped()) return;
    User user;
    const Finished first = user.run(std::string(kSlow) + "TMM_SETTLED=0", std::string(kShape) + ": by tmm, raced: ");
    CHECK(first.calls_behind() == 0);
    CHECK(user.list().find("raced") != std::string::npos);
    // The table at the end: calls, by whom, both times, what was saved.
    const auto table = first.log.find("who multiplied");
    REQUIRE(table != std::string::npos);
    const std::string row = first.log.substr(table);
    CHECK(row.find(" tmm ") != std::string::npos);
    CHECK(row.find(std::string("  ") + kShape + "\n") != std::string::npos);
    CHECK(std::atof(row.c_str() + row.find("saved in all: ") + 14) > 100);
    for (const char* settled : {"TMM_SETTLED=0", "TMM_SETTLED=1"}) {
        const Finished next = user.run(std::string(kSlow) + settled, std::string(kShape) + ": by tmm, exact: ");
        CHECK(next.calls_behind() == 0);
        CHECK(next.log.find("raced: ") == std::string::npos);
    }
}

TEST_CASE("a triangle is raced as any product is, and the next process knows of it") {
    if (is_skipped()) return;
    User user;
    const std::string triangle = "40 40 32 ops=nt layout=col result=lower";
    const Finished first = user.run(std::string(kSlow) + "TMM_TEST_TRIANGLE=1 TMM_SETTLED=0", triangle + ": by tmm, raced: ");
    CHECK(first.calls_behind() == 0);
    const Finished next = user.run(std::string(kSlow) + "TMM_TEST_TRIANGLE=1 TMM_SETTLED=1", triangle + ": by tmm, exact: ");
    CHECK(next.calls_behind() == 0);
}

TEST_CASE("TMM_SETTLED=1 times nothing and leaves what nobody decided to the library") {
    if (is_skipped()) return;
    User user;
    const Finished finished =
        user.run(std::string(kSlow) + "TMM_SETTLED=1", std::string(kShape) + ": by cuBLAS, since no tuned problem is near");
    CHECK(finished.calls_behind() == 10);
    CHECK_FALSE(user.has_database());
    // As long as the program runs: the table has no time of either.
    CHECK(finished.log.find("         -          - ") != std::string::npos);
}

TEST_CASE("a database that can't be written costs one line, and the faster side serves all the same") {
    if (is_skipped()) return;
    User user;
    const Finished finished =
        user.run(std::string(kSlow) + "TMM_SETTLED=0 TMM_DB=/dev/null/none", std::string(kShape) + ": by tmm, raced: ");
    CHECK(finished.calls_behind() == 0);
    CHECK(lines_with(finished.log, "the next process will time its shapes anew: ") == 1);
}

TEST_CASE("children that are forked in the middle of a race call the library, and the race goes on") {
    if (is_skipped()) return;
    User user;
    const Finished finished = user.run(std::string(kSmall) + "TMM_SETTLED=0", std::string(kSmallShape) + ": by cuBLAS, since tmm took ",
                                       "a program forks while its shapes are raced");
    // Children end by exit(): the table is their parent's.
    CHECK(lines_with(finished.log, "who multiplied") == 1);
    CHECK(user.list().find("raced") != std::string::npos);
}

TEST_CASE("while a program's shapes are tuned beside it nothing is raced") {
    if (is_skipped()) return;
    User user;
    const Finished finished = user.run("TMM_SETTLED=0 TMM_MODE=tune", std::string(kShape) + ": by cuBLAS, since no tuned problem is near");
    CHECK(finished.log.find("raced") == std::string::npos);
}

TEST_CASE("a TMM_SETTLED that is neither 1 nor 0 is named") {
    if (is_skipped()) return;
    User user;
    const Finished finished = user.run("TMM_SETTLED=maybe", std::string(kShape) + ": by tmm, ");
    CHECK(lines_with(finished.log, "TMM_SETTLED=maybe is not understood: it is 1 or 0") == 1);
}
