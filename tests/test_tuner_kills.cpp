// kill -9 at seeded random moments, of the tuner and of its worker: the database stays sound, nothing committed is lost, no
// worker outlives its parent, and the next run finishes.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "tuner_testing.h"

using tuner_testing::Finished;
using tuner_testing::TunerFolder;

namespace {

constexpr int kKills = 60;
constexpr unsigned kSeed = 20240611;

void pause(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Not a zombie that nobody has reaped either.
bool runs(pid_t pid) {
    const std::string stat = tuner_testing::read_text("/proc/" + std::to_string(pid) + "/stat");
    const auto state = stat.rfind(')');
    return state != std::string::npos && stat.size() > state + 2 && stat[state + 2] != 'Z' && stat[state + 2] != 'X';
}

}  // namespace

TEST_CASE("sixty kills") {
    TunerFolder folder("4 4 4\n5 5 5\n6 6 6\n8 4 8\n");
    // Compiled once, so that the kills fall into measuring.
    const Finished warm = folder.tune();
    CAPTURE(warm.err);
    REQUIRE(warm.status == 0);
    const int complete = folder.count("SELECT count(*) FROM measurement");
    const auto start_anew = [&] { std::filesystem::remove(folder.database()); };
    start_anew();

    MESSAGE("seed " << kSeed);
    std::mt19937 random(kSeed);
    int parents = 0;
    int workers = 0;
    int finished_runs = 0;
    pid_t tuner = -1;
    while (parents + workers < kKills) {
        if (tuner < 0) tuner = folder.start(folder.usual());
        pause(static_cast<int>(random() % 150));
        int status = 0;
        if (waitpid(tuner, &status, WNOHANG) == tuner) {
            // It came to its end between two kills.
            tuner = -1;
            REQUIRE(WIFEXITED(status));
            CHECK(WEXITSTATUS(status) == 0);
            CHECK(folder.count("SELECT count(*) FROM selection") >= 4);
            ++finished_runs;
            start_anew();
            continue;
        }
        const auto children = tuner_testing::children_of(tuner);
        const bool at_worker = random() % 2 == 0;
        if (at_worker) {
            for (const pid_t child : children) {
                if (!tuner_testing::is_worker(child)) continue;
                kill(child, SIGKILL);
                ++workers;
                break;
            }
            continue;
        }
        int committed = 0;
        if (std::filesystem::exists(folder.database())) {
            try {
                committed = folder.count("SELECT count(*) FROM measurement");
            } catch (const std::exception&) {
                // The tables are being made just now.
            }
        }
        kill(tuner, SIGKILL);
        waitpid(tuner, &status, 0);
        tuner = -1;
        ++parents;
        for (int i = 0; i < 500; ++i) {
            if (std::none_of(children.begin(), children.end(), runs)) break;
            pause(10);
        }
        CHECK(std::none_of(children.begin(), children.end(), runs));
        if (!std::filesystem::exists(folder.database())) continue;
        CHECK(folder.query("PRAGMA integrity_check") == "ok");
        CHECK(folder.query("PRAGMA foreign_key_check").empty());
        if (committed > 0) CHECK(folder.count("SELECT count(*) FROM measurement") >= committed);
    }
    if (tuner > 0) {
        const Finished last = folder.finish(tuner);
        CAPTURE(last.err);
        CHECK(last.status == 0);
    }
    const Finished next = folder.tune();
    CAPTURE(next.err);
    CHECK(next.status == 0);
    CHECK(next.out.find("verified winner") != std::string::npos);
    CHECK(folder.query("PRAGMA integrity_check") == "ok");
    CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
    CHECK(folder.count("SELECT count(*) FROM (SELECT DISTINCT problem_id, config_id FROM measurement)") == complete);
    CHECK(folder.tune().out.find("nothing to measure: all 4 problems have verified winners") != std::string::npos);
    MESSAGE(parents << " parents and " << workers << " workers killed, " << finished_runs << " runs came to their end between");
    CHECK(parents >= 15);
    CHECK(workers >= 15);
}
