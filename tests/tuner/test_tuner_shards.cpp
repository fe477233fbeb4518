// Sixteen processes tune one list of shapes, each its part of it, by the job files that examples/ has for Slurm and Kubernetes. Three are
// killed and started again. What all found, merged in any order, is what one process would have found out about: every problem once.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/error.h"
#include "generator/text/text.h"
#include "tests/support/tuner_testing.h"
#include "tuner/options/shard.h"

using namespace tuner_testing;

namespace {

constexpr int kParts = 16;
constexpr int kProblems = 18;

std::string shapes() {
    std::string text;
    // Their candidates are the same kernels, most of them.
    for (int i = 1; i <= kProblems; ++i) text += fmt::format("5 7 9 batch=2 stride_a={}\n", 2 * i + 43);
    // A problem that stands twice is no second problem.
    return text + "5 7 9 batch=2 stride_a=45\n";
}

std::vector<std::string> texts(const std::vector<tmm::Shape>& shapes) {
    std::vector<std::string> texts;
    for (const tmm::Shape& shape : shapes) texts.push_back(tmm::to_text(shape));
    return texts;
}

// The shell command that the container of examples/kubernetes.yaml runs.
std::string kubernetes_command() {
    std::istringstream file(read_text(std::string(TMM_SOURCE_DIR) + "/examples/kubernetes.yaml"));
    for (std::string line; std::getline(file, line);)
        if (const auto at = line.find("exec tmm-tune"); at != std::string::npos) return line.substr(at);
    return {};
}

// A shell in the folder, with the tools on its PATH.
std::string shell(const TunerFolder& folder, const std::string& command) {
    const std::string tools = std::string(TMM_BINARY_DIR) + "/tools";
    return fmt::format("cd '{}' && export TMM_GPU=host TMM_CACHE_DIR='{}/tests/tuner_cache' PATH='{}':\"$PATH\" && {}",
                       folder.path.string(), TMM_BINARY_DIR, tools, command);
}

// The variables that Slurm sets for a task of an array: of all parts, or of this one alone, which is submitted again.
std::string slurm_variables(int part, bool alone) {
    return fmt::format("SLURM_ARRAY_TASK_ID={} SLURM_ARRAY_TASK_COUNT={} SLURM_ARRAY_TASK_MIN={} SLURM_ARRAY_TASK_MAX={}", part,
                       alone ? 1 : kParts, alone ? part : 0, alone ? part : kParts - 1);
}

pid_t start(const TunerFolder& folder, int part, bool again = false) {
    const std::string slurm = fmt::format("{} exec bash '{}/examples/slurm.sh' shapes.txt", slurm_variables(part, again), TMM_SOURCE_DIR);
    const std::string kubernetes = fmt::format("export JOB_COMPLETION_INDEX={} && {}", part, kubernetes_command());
    const std::string command = shell(folder, part % 2 == 0 ? slurm : kubernetes) + fmt::format(" >part{0}.out 2>part{0}.err", part);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        setpgid(0, 0);
        execl("/bin/bash", "bash", "-c", command.c_str(), nullptr);
        _exit(127);
    }
    setpgid(child, child);
    return child;
}

int status_of(pid_t child) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string merged(const TunerFolder& folder, const std::vector<int>& order, const std::string& into) {
    std::string command = "tmm-db merge --db " + into;
    for (const int part : order) command += fmt::format(" tmm-part-{}.db", part);
    REQUIRE(
        std::system(
            shell(folder,
                  command + fmt::format(" >/dev/null && tmm-db verify --db {0} >/dev/null && tmm-db export --csv --db {0} >{0}.csv", into))
                .c_str()) == 0);
    return read_text(folder.path / (into + ".csv"));
}

}  // namespace

TEST_CASE("parts have no problem in common, and together they have all") {
    TunerFolder folder(shapes());
    const std::vector<tmm::Shape> all = tmm::read_shapes(folder.shapes().string(), {});
    CHECK(all.size() == kProblems);
    for (const int count : {1, 2, 3, 7, kProblems, 40}) {
        std::multiset<std::string> found;
        std::size_t least = all.size(), most = 0;
        for (int i = 0; i < count; ++i) {
            const auto part = texts(tmm::shapes_of({.index = i, .count = count}, all));
            found.insert(part.begin(), part.end());
            least = std::min(least, part.size());
            most = std::max(most, part.size());
        }
        CHECK(found.size() == kProblems);
        CHECK(std::set<std::string>(found.begin(), found.end()).size() == kProblems);
        CHECK(most - least <= 1);
    }
}

TEST_CASE("what is no part of a whole is refused") {
    for (const char* text :
         {"", "1", "/", "1/", "/2", "2/2", "-1/2", "0/0", "0/-1", "a/2", "1/2/3", "0x1/2", "1/99999999999", " 1/2", "1 /2"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(tmm::parse_shard(text), tmm::Error);
        TunerFolder folder;
        CHECK(folder.tune({"--shard", text}).status == 1);
    }
}

TEST_CASE("an empty part is done at once") {
    TunerFolder folder("4 4 4\n");
    const Finished run = folder.tune({"--shard", "1/2"});
    CHECK(run.status == 0);
    CHECK(run.err.find("no problem is left for part 1 of 2") != std::string::npos);
    CHECK(folder.count("SELECT count(*) FROM problem") == 0);
}

TEST_CASE("sixteen parts, three of them killed and started again, make one database") {
    TunerFolder folder(shapes());
    std::vector<pid_t> processes;
    for (int part = 0; part < kParts; ++part) processes.push_back(start(folder, part));
    std::mt19937 random(11);
    std::set<int> killed;
    while (killed.size() < 3) {
        const int part = static_cast<int>(random() % kParts);
        if (!killed.insert(part).second) continue;
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 700));
        kill(-processes[part], SIGKILL);
    }
    for (int part = 0; part < kParts; ++part) {
        const int status = status_of(processes[part]);
        INFO(read_text(folder.path / fmt::format("part{}.err", part)));
        // One that is killed may have ended before.
        if (!killed.contains(part) || status >= 0) CHECK(status == 0);
    }
    for (const int part : killed) CHECK(status_of(start(folder, part, true)) == 0);

    std::vector<int> order(kParts);
    for (int part = 0; part < kParts; ++part) order[part] = part;
    const std::string first = merged(folder, order, "first.db");
    std::shuffle(order.begin(), order.end(), random);
    CHECK(merged(folder, order, "second.db") == first);
    // Merging once more adds nothing.
    CHECK(merged(folder, order, "first.db") == first);
    SQLite::Database database((folder.path / "first.db").string());
    CHECK(database.execAndGet("SELECT count(*) FROM problem").getInt() == kProblems);
    CHECK(database.execAndGet("SELECT count(DISTINCT problem_id) FROM selection").getInt() == kProblems);
}

TEST_CASE("every part may be submitted to Slurm again by itself, and another number of parts is said once") {
    TunerFolder folder(shapes());
    const auto run = [&](const std::string& variables) {
        const std::string command = fmt::format("{} bash '{}/examples/slurm.sh' shapes.txt >out 2>err", variables, TMM_SOURCE_DIR);
        const int status = std::system(("bash -c \"" + shell(folder, "TMM_GPU=host " + command) + "\"").c_str());
        return WEXITSTATUS(status);
    };
    std::set<std::string> tuned;
    for (const int part : {0, 3, 15}) {
        CAPTURE(part);
        CHECK_MESSAGE(run(slurm_variables(part, true)) == 0, read_text(folder.path / "err"));
        const std::string said = read_text(folder.path / "out");
        CHECK(said.find("verified winner") != std::string::npos);
        CHECK(tuned.insert(said.substr(0, said.find("database:"))).second);
    }
    CHECK(run("PARTS=40 " + slurm_variables(39, true)) == 0);
    CHECK(read_text(folder.path / "err").find("no problem is left for part 39 of 40") != std::string::npos);
    CHECK(run(slurm_variables(16, true)) == 1);
    CHECK(read_text(folder.path / "err").find("there is no part 16 of 16, which count from 0: set PARTS") != std::string::npos);
}

TEST_CASE("what running a part again can't change is final for it in Kubernetes, and what may pass is not") {
    const std::string job = read_text(std::string(TMM_SOURCE_DIR) + "/examples/kubernetes.yaml");
    const auto has = [&](const std::string& text) { return job.find(text) != std::string::npos; };
    CHECK(has("podFailurePolicy:"));
    CHECK(has("- action: FailIndex\n        onExitCodes:\n          containerName: tmm-tune\n          operator: In\n"));
    CHECK(has("- action: Ignore\n        onPodConditions:\n          - type: DisruptionTarget\n"));
    // Without these a rule's FailIndex is refused, or one part's failures end the others.
    CHECK(has("completionMode: Indexed"));
    CHECK(has("restartPolicy: Never"));
    CHECK(has("backoffLimitPerIndex: "));
    CHECK(has("maxFailedIndexes: 16\n"));
    CHECK(has("completions: 16\n"));
    CHECK_FALSE(has("backoffLimit: "));
    const std::size_t values = job.find("values: [");
    REQUIRE(values != std::string::npos);
    std::set<int> final_statuses;
    std::istringstream list(job.substr(values + 9, job.find(']', values) - values - 9));
    for (std::string status; std::getline(list, status, ',');) final_statuses.insert(std::stoi(status));

    TunerFolder folder("4 4 4\n20000 20000 20000\n");
    const auto status_with = [&](const std::vector<std::string>& more) { return folder.tune(more).status; };
    for (int attempt = 0; attempt < 2; ++attempt) CHECK(final_statuses.contains(status_with({})));
    CHECK(final_statuses.contains(status_with({"--shard", "16/16"})));
    folder.environment["TMM_CXX"] = "/nonexistent/c++";
    folder.environment["TMM_CACHE_DIR"] = (folder.path / "cache").string();
    folder.set_shapes("8 8 8\n");
    CHECK(final_statuses.contains(status_with({})));
    folder.set_shapes("8 8 eight\n");
    CHECK(final_statuses.contains(status_with({})));
    for (const tmm::ExitStatus passing : {tmm::ExitStatus::no_device, tmm::ExitStatus::database, tmm::ExitStatus::interrupted})
        CHECK_FALSE(final_statuses.contains(static_cast<int>(passing)));
}
