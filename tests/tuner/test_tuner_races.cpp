// The tuner's threads (compilers, one for each worker, the one that waits for signals) in a run that ends by its budget and in one that is
// interrupted. Built with ThreadSanitizer, tmm-tune ends with a status of its own where two of them race.
#include <doctest/doctest.h>
#include <signal.h>

#include <string>

#include "tests/support/tuner_testing.h"

using namespace tuner_testing;

namespace {

constexpr const char* kShapes = "4 4 4\n8 8 8\n16 8 4\n8 16 4 batch=3\n";

void check_no_race(const Finished& result) {
    CHECK_MESSAGE(result.err.find("ThreadSanitizer") == std::string::npos, result.err);
}

}  // namespace

TEST_CASE("a run whose budget ends, and one after it that predicts what is left") {
    TunerFolder folder(kShapes);
    folder.environment["TMM_CACHE_DIR"] = (folder.path / "cache").string();
    for (const char* budget : {"3", "1"}) {
        const Finished result = folder.tune({"--budget", budget});
        CHECK_MESSAGE((result.status == 0 || result.status == 6), result.err);
        check_no_race(result);
    }
}

TEST_CASE("a run that is interrupted while it compiles and measures") {
    TunerFolder folder(kShapes);
    folder.environment["TMM_CACHE_DIR"] = (folder.path / "cache").string();
    const pid_t run = folder.start(folder.usual());
    folder.wait_until_said("[1/");
    kill(run, SIGINT);
    const Finished result = folder.finish(run);
    // On a fast machine it may just have finished.
    CHECK_MESSAGE((result.status == 130 || result.status == 0), result.err);
    check_no_race(result);
}
