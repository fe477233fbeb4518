// tmm-tune is killed at random moments, alone, with its process group, or its worker: whatever the moment, the database opens and is sound,
// what was reported is in it, nobody is blamed, nothing is left running or lying about, and the next run goes on.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <sstream>

#include "tests/support/kernels/correctness.h"
#include "tests/support/tuner_testing.h"

using namespace tuner_testing;

namespace {

constexpr const char* kShapes = "4 4 4\n5 5 5\n6 6 6\n8 4 8\n";
constexpr int kProblems = 4;
constexpr int kKills = 1000;
constexpr int kKillsByDefault = 24;
// So often the kernels are compiled anew, so that compilers are met.
constexpr int kKillsOfACache = 40;

enum class Target { process, group, worker };

struct Kill {
    int signal;
    Target target;
    int milliseconds;
    // Whether it comes twice, as users press Ctrl-C again.
    bool twice;
};

Kill random_kill(std::mt19937& random) {
    const int signals[] = {SIGKILL, SIGKILL, SIGINT, SIGTERM, SIGHUP};
    Kill kill{.signal = signals[random() % std::size(signals)],
              .target = static_cast<Target>(random() % 3),
              .milliseconds = static_cast<int>(random() % 500),
              .twice = random() % 4 == 0};
    // The time is squared, so that more of the kills fall into the beginning.
    if (random() % 2 == 0) kill.milliseconds = kill.milliseconds * kill.milliseconds / 1000;
    return kill;
}

void pause(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// The folder's tmm-tune, its workers and compilers, by the environment that they were started with. Zombies are none.
std::vector<pid_t> processes_of(const TunerFolder& folder) {
    std::vector<pid_t> found;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator("/proc", gone)) {
        const std::string number = entry.path().filename().string();
        if (number.find_first_not_of("0123456789") != std::string::npos) continue;
        if (read_text(entry.path() / "environ").find(folder.path.string()) != std::string::npos) found.push_back(std::stoi(number));
    }
    return found;
}

// A compiler may finish what it has begun; nothing else goes on.
void wait_for_the_end_of_all(const TunerFolder& folder) {
    for (int i = 0; i < 12000 && !processes_of(folder).empty(); ++i) pause(10);
    CHECK_MESSAGE(processes_of(folder).empty(), "processes outlive the run for two minutes");
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    return names;
}

// "[1/4] 4x4x4: tiled 4x4x4 exact 2.884 µs, …" says that the problem is decided.
std::vector<std::string> reported_problems(const std::string& err) {
    std::vector<std::string> names;
    std::istringstream lines(err);
    for (std::string line; std::getline(lines, line);) {
        const auto name = line.find("] ");
        const auto end = line.find(": ");
        if (line.starts_with("[") && name != std::string::npos && end != std::string::npos && line.find(" µs") != std::string::npos)
            names.push_back(line.substr(name + 2, end - name - 2));
    }
    return names;
}

class KilledTuner {
public:
    // cold: the kernels are compiled among the kills, again and again; else the cache of earlier runs of this test serves them.
    KilledTuner(unsigned seed, bool cold) : random_(seed), cold_(cold) {
        folder_.environment["TMPDIR"] = (folder_.path / "tmp").string();
        folder_.environment["TMM_CACHE_DIR"] = cache().string();
        fs::create_directory(folder_.path / "tmp");
    }

    void run(int kills) {
        for (int i = 0; i < kills; ++i) {
            if (cold_ && i % kKillsOfACache == 0) fs::remove_all(cache());
            one(random_kill(random_));
        }
        finish();
    }

    std::string tally() const {
        std::string text = fmt::format("{} runs came to their end before the signal", ended_before_);
        for (const auto& [name, count] : ends_) text += fmt::format(", {} {}", count, name);
        return text;
    }
    int killed() const {
        int sum = 0;
        for (const auto& [name, count] : ends_) sum += count;
        return sum;
    }

private:
    fs::path cache() const { return cold_ ? folder_.path / "cache" : fs::path(TMM_BINARY_DIR) / "tests" / "killed_tuner_cache"; }

    void one(const Kill& kill) {
        CAPTURE(kill.signal);
        CAPTURE(static_cast<int>(kill.target));
        CAPTURE(kill.milliseconds);
        const int committed = measurements();
        const pid_t tuner = folder_.start_group(folder_.usual());
        pause(kill.milliseconds);
        const bool sent = send(tuner, kill);
        const Finished finished = folder_.finish(tuner);
        CAPTURE(finished.err);
        check_status(finished.status, kill, sent);
        wait_for_the_end_of_all(folder_);
        check_database(finished, committed);
        if (finished.status == 0) check_complete();
    }

    bool send(pid_t tuner, const Kill& kill) {
        std::vector<pid_t> targets;
        if (kill.target == Target::process) targets.push_back(tuner);
        if (kill.target == Target::group) targets.push_back(-tuner);
        if (kill.target == Target::worker)
            for (const pid_t child : children_of(tuner))
                if (is_worker(child)) targets.push_back(child);
        bool sent = false;
        for (const pid_t target : targets) sent = ::kill(target, kill.signal) == 0 || sent;
        if (kill.twice && kill.target != Target::worker) {
            pause(static_cast<int>(random_() % 50));
            for (const pid_t target : targets) ::kill(target, kill.signal);
        }
        return sent;
    }

    void check_status(int status, const Kill& kill, bool sent) {
        if (status == 0) {
            ++ended_before_;
            return;
        }
        REQUIRE(sent);
        REQUIRE(kill.target != Target::worker);
        // Before it waits for signals they end it.
        const bool by_signal = status == -kill.signal;
        CHECK((by_signal || (status == 130 && kill.signal != SIGKILL)));
        ++ends_[fmt::format("by {}{}", sigabbrev_np(kill.signal), by_signal ? "" : " in order")];
    }

    void check_database(const Finished& finished, int committed) {
        if (!fs::exists(folder_.database())) {
            CHECK(committed == 0);
            CHECK(reported_problems(finished.err).empty());
            return;
        }
        CHECK(folder_.query("PRAGMA integrity_check") == "ok");
        if (folder_.count("SELECT count(*) FROM sqlite_schema") == 0) return;
        CHECK(measurements() >= committed);
        CHECK(folder_.count("SELECT count(*) FROM measurement WHERE outcome <> 0") == 0);
        CHECK(folder_.count("SELECT count(*) FROM in_flight") <= 3);
        const std::vector<std::string> reported = reported_problems(finished.err);
        CHECK(folder_.count("SELECT count(DISTINCT problem_id) FROM selection") >= static_cast<int>(reported.size()));
        const std::string command = fmt::format("{}/tools/tmm-db verify --db {} > {} 2>&1", TMM_BINARY_DIR, folder_.database().string(),
                                                (folder_.path / "said").string());
        CHECK_MESSAGE(std::system(command.c_str()) == 0, read_text(folder_.path / "said"));
    }

    int measurements() const {
        if (!fs::exists(folder_.database()) || folder_.count("SELECT count(*) FROM sqlite_schema") == 0) return 0;
        return folder_.count("SELECT count(*) FROM measurement");
    }

    // Every candidate was measured once, however many runs it took; then the next database begins.
    void check_complete() {
        CHECK(folder_.count("SELECT count(DISTINCT problem_id) FROM selection") == kProblems);
        CHECK(folder_.count("SELECT count(*) FROM in_flight") == 0);
        const int candidates = folder_.count("SELECT count(*) FROM (SELECT DISTINCT problem_id, config_id FROM measurement)");
        if (complete_ == 0) complete_ = candidates;
        CHECK(candidates == complete_);
        CHECK(measurements() == candidates);
        const std::vector<std::string> names = names_in(folder_.path);
        CHECK(std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("tmm.db"); }) == 1);
        fs::remove(folder_.database());
    }

    // Left alone, a run comes to its end, and clears away what the killed ones left.
    void finish() {
        const Finished last = folder_.tune();
        CAPTURE(last.err);
        CHECK(last.status == 0);
        CHECK(folder_.tune().out.find("nothing to measure: all 4 problems have verified winners") != std::string::npos);
        check_complete();
        CHECK(names_in(folder_.path / "tmp").empty());
        for (const auto& entry : fs::recursive_directory_iterator(cache()))
            CHECK_MESSAGE(entry.path().filename().string().find("tmp") == std::string::npos, entry.path().string());
    }

    TunerFolder folder_{kShapes};
    std::mt19937 random_;
    bool cold_;
    std::map<std::string, int> ends_;
    int ended_before_ = 0;
    int complete_ = 0;
};

}  // namespace

TEST_CASE("a tuning run is killed at random moments") {
    const bool full = tmm::testing::test_setting("FULL", 0) != 0;
    const int kills = full ? kKills : kKillsByDefault;
    const auto seed = static_cast<unsigned>(tmm::testing::test_seed() + static_cast<unsigned>(tmm::testing::test_setting("SLICE", 0)));
    MESSAGE("seed " << seed);
    KilledTuner tuner(seed, full);
    tuner.run(kills);
    MESSAGE(tuner.tally());
    CHECK(tuner.killed() > kills / 4);
}
