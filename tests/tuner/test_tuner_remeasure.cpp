// tmm-tune --remeasure: everything is measured and decided anew, and nothing of what was known is lost.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/tuner_testing.h"

using namespace tuner_testing;

TEST_CASE("--remeasure measures again what has results, and keeps them") {
    TunerFolder folder("4 4 4\n5 4 3\n");
    REQUIRE(folder.tune().status == 0);
    const int measured = folder.count("SELECT count(*) FROM measurement");
    const int decided = folder.count("SELECT count(*) FROM selection");
    REQUIRE(measured > 2);
    REQUIRE(decided == 2);
    // Every row as text, so that one that is changed is missed, too.
    const auto rows = [&](const char* table) {
        return folder.query(
            "SELECT group_concat(x, char(10)) FROM (SELECT id || ' ' || config_id || ' ' || median_us AS x FROM " + std::string(table) +
            " WHERE id <= " + (table == std::string("measurement") ? std::to_string(measured) : std::to_string(decided)) + ")");
    };
    const std::string old_measurements = rows("measurement");
    const std::string old_decisions = rows("selection");

    const Finished nothing = folder.tune();
    CHECK(nothing.out.find("nothing to measure") != std::string::npos);
    REQUIRE(folder.count("SELECT count(*) FROM measurement") == measured);

    const Finished again = folder.tune({"--remeasure"});
    CAPTURE(again.err);
    CHECK(again.status == 0);
    CHECK(again.out.find("nothing to measure") == std::string::npos);
    // There are as many new measurements as there were, each of a config that had one; the run-off may add some.
    CHECK(folder.count("SELECT count(*) FROM measurement") >= 2 * measured);
    CHECK(folder.count("SELECT count(DISTINCT problem_id * 1000000 + config_id) FROM measurement WHERE id > " + std::to_string(measured)) ==
          folder.count("SELECT count(DISTINCT problem_id * 1000000 + config_id) FROM measurement WHERE id <= " + std::to_string(measured)));
    CHECK(folder.count("SELECT count(*) FROM selection") == 2 * decided);
    CHECK(rows("measurement") == old_measurements);
    CHECK(rows("selection") == old_decisions);

    // The new decision counts for the runs after it.
    CHECK(folder.tune().out.find("nothing to measure") != std::string::npos);
}

TEST_CASE("a run with --remeasure that is interrupted leaves the decisions that there were") {
    TunerFolder folder("192 192 192\n");
    REQUIRE(folder.tune().status == 0);
    const int measured = folder.count("SELECT count(*) FROM measurement");
    const pid_t pid = folder.start(folder.usual({"--remeasure"}));
    int status = 0;
    while (folder.count("SELECT count(*) FROM measurement") == measured && waitpid(pid, &status, WNOHANG) == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(pid, SIGINT);
    waitpid(pid, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 130);
    CHECK(folder.count("SELECT count(*) FROM measurement") > measured);
    CHECK(folder.count("SELECT count(*) FROM selection") == 1);
    const Finished next = folder.tune();
    CHECK(next.status == 0);
    CHECK(next.out.find("nothing to measure") != std::string::npos);
}
