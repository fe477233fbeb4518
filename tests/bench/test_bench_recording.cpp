// tmm-bench --record: the times of a problem's configs, kept in a file that a run which was ended adds to.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "bench/recording/recorded_times.h"
#include "bench/recording/time_recorder.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/tuner_testing.h"
#include "tuner/options/shard.h"

using namespace tuner_testing;

namespace {

std::vector<std::string> recording(TunerFolder& folder, const std::string& shapes) {
    folder.set_shapes(shapes);
    return {"--gpu", "host", "--shapes", folder.shapes().string(), "--record", (folder.path / "times.csv").string()};
}

tmm::bench::RecordedTimes recorded(const TunerFolder& folder) {
    return tmm::bench::parse_recorded_times(read_text(folder.path / "times.csv"), "times.csv");
}

// Lines that tell a config's outcome, whatever the time; that of a run-off stands for another measurement.
std::multiset<std::string> outcomes(const std::string& text) {
    std::multiset<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (!line.starts_with("#") && line.find("run_off") == std::string::npos) lines.insert(line.substr(0, line.rfind(',')));
    return lines;
}

}  // namespace

TEST_CASE("A killed recording goes on where it stood, and says that nothing is left") {
    TunerFolder folder;
    folder.tool = "tmm-bench";
    const auto command = recording(folder, "4 4 4\n3 5 2\n");
    const pid_t first = folder.start(command);
    const auto lines = [&] {
        const std::string text = read_text(folder.path / "times.csv");
        return std::count(text.begin(), text.end(), '\n');
    };
    for (int i = 0; i < 6000 && lines() < 6; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(lines() >= 6);
    kill(first, SIGKILL);
    CHECK(folder.finish(first).status == -SIGKILL);
    const std::string kept = read_text(folder.path / "times.csv");
    // What a crash of the machine leaves of a line.
    write_text(folder.path / "times.csv", kept.substr(0, kept.rfind('\n') + 1) + "4x4x4,nai");

    const Finished second = folder.run(command);
    CHECK(second.status == 0);
    CHECK_MESSAGE(second.err.find("2 of 2 shapes are complete") != std::string::npos, second.err);
    const std::string text = read_text(folder.path / "times.csv");
    CHECK(text.starts_with(kept.substr(0, kept.rfind('\n') + 1)));
    const std::multiset<std::string> all = outcomes(text);
    for (const std::string& line : all) CHECK_MESSAGE(all.count(line) == 1, line);

    const tmm::bench::RecordedTimes times = recorded(folder);
    CHECK(times.device.name == "host");
    REQUIRE(times.problems.size() == 2);
    for (const auto& [shape, problem] : times.problems) {
        CHECK(problem.complete);
        const auto configs = tmm::bench::configs_to_record(tmm::parse_shape(shape).problem, tmm::host_device_info());
        REQUIRE(configs.size() >= 8);
        std::size_t beside_others = 0;
        for (const tmm::KernelConfig& config : configs) {
            const auto time = problem.times.find(tmm::fields_text(config));
            REQUIRE_MESSAGE(time != problem.times.end(), shape << " lacks " << tmm::to_text(config));
            CHECK((time->second.outcome != tmm::Outcome::ok || time->second.alone_us > 0));
            beside_others += time->second.run_off_us > 0 ? 1 : 0;
        }
        CHECK(beside_others >= 2);
    }
    const Finished third = folder.run(command);
    CHECK(third.status == 0);
    CHECK(read_text(folder.path / "times.csv") == text);
}

TEST_CASE("Of a size that varies its sample sizes are recorded, in parts as in one run") {
    TunerFolder folder;
    folder.tool = "tmm-bench";
    const std::string line = "1:3:auto 4 2\n";
    auto command = recording(folder, line);
    const auto sizes = tmm::with_sample_sizes(tmm::parse_shapes(line, "t", {}, tmm::Varying::allowed), tmm::host_device_info());
    REQUIRE(sizes.size() >= 2);
    command.insert(command.end(), {"--shard", "0/2"});
    for (const char* part : {"0/2", "1/2"}) {
        command.back() = part;
        const Finished run = folder.run(command);
        CHECK_MESSAGE(run.status == 0, run.err);
    }
    const tmm::bench::RecordedTimes times = recorded(folder);
    CHECK(times.problems.size() == sizes.size());
    for (const tmm::Shape& size : sizes) {
        const auto problem = times.problems.find(tmm::to_text(size.problem));
        REQUIRE(problem != times.problems.end());
        CHECK(problem->second.complete);
    }
}

TEST_CASE("A recording that its budget ends says what is left, and keeps what it has") {
    TunerFolder folder;
    folder.tool = "tmm-bench";
    auto command = recording(folder, "4 4 4\n3 5 2\n2 2 7\n");
    command.insert(command.end(), {"--budget", "0.5"});
    const Finished run = folder.run(command);
    CHECK(run.status == static_cast<int>(tmm::ExitStatus::no_winner));
    CHECK_MESSAGE(run.err.find("of 3 shapes are complete") != std::string::npos, run.err);
    CHECK(recorded(folder).device.name == "host");
}

TEST_CASE("Times of another device are not mixed in") {
    TunerFolder folder;
    folder.tool = "tmm-bench";
    tmm::DeviceInfo device = tmm::assumed_device("90");
    write_text(folder.path / "times.csv",
               tmm::bench::device_line(device) + "\n" + tmm::bench::outcome_line("4x4x4", {.family = 1}, tmm::Outcome::ok, 2.5) + "\n");
    const Finished run = folder.run(recording(folder, "4 4 4\n"));
    CHECK(run.status == static_cast<int>(tmm::ExitStatus::bad_input));
    CHECK_MESSAGE(run.err.find("it holds times of NVIDIA H200, not of host") != std::string::npos, run.err);
}

TEST_CASE("A file that can't be read is left as it is") {
    TunerFolder folder;
    folder.tool = "tmm-bench";
    const fs::path file = folder.path / "times.csv";
    const tmm::DeviceInfo device = tmm::assumed_device("90");
    const std::string text =
        tmm::bench::device_line(device) + "\n" + tmm::bench::outcome_line("4x4x4", {.family = 1}, tmm::Outcome::ok, 2.5) + "\n";
    write_text(file, text);
    REQUIRE(chmod(file.c_str(), 0200) == 0);
    // Root reads whatever it likes.
    const bool is_root = geteuid() == 0;
    if (is_root) {
        constexpr uid_t kSomebody = 65534;
        REQUIRE(chmod(folder.path.c_str(), 0755) == 0);
        REQUIRE(chown(file.c_str(), kSomebody, kSomebody) == 0);
        REQUIRE(seteuid(kSomebody) == 0);
    }
    std::string what;
    try {
        const tmm::bench::RecordingFile recording(file, device);
    } catch (const tmm::Error& error) {
        what = error.what();
    }
    if (is_root) REQUIRE(seteuid(0) == 0);
    REQUIRE(chmod(file.c_str(), 0600) == 0);
    CHECK_MESSAGE(what.find("Permission denied") != std::string::npos, what);
    CHECK(read_text(file) == text);
    CHECK_THROWS_AS(tmm::bench::RecordingFile("/proc/self/mem", device), tmm::Error);
}

TEST_CASE("What is not a recording is told by its line") {
    const tmm::KernelConfig config{.family = 1};
    const std::string good =
        tmm::bench::outcome_line("4x4x4", config, tmm::Outcome::spills, 0) + "\n" + tmm::bench::run_off_line("4x4x4", config, 3.25) + "\n";
    const auto read = tmm::bench::parse_recorded_times(good, "t");
    const tmm::bench::RecordedTime& time = read.problems.at("4x4x4").times.at(tmm::fields_text(config));
    CHECK(time.outcome == tmm::Outcome::spills);
    CHECK(time.run_off_us == 3.25);
    CHECK_FALSE(read.problems.at("4x4x4").complete);
    for (const std::string bad :
         {"4x4x4,naive,ok", "4x4x4,naive,ok,1,2", "4x4x4,naive,good,1", "4x4x4,naive,ok,x", "4x4x4,unheard,ok,1", "", "# {}"}) {
        std::string what;
        try {
            tmm::bench::parse_recorded_times(good + bad + "\n", "t");
        } catch (const tmm::Error& error) {
            what = error.what();
        }
        CHECK_MESSAGE(what.find("t:3") != std::string::npos, bad << " -> " << what);
    }
}

TEST_CASE("Recorded are the default first, the best with overlap and without, and some of the rest; all could serve") {
    for (const char* shape : {"1024 1024 1024", "17 3000 5000 dtype=bf16", "65 65 65 batch=500"}) {
        const tmm::GemmProblem problem = tmm::parse_shape(shape).problem;
        const tmm::DeviceInfo device = tmm::assumed_device("90");
        const auto configs = tmm::bench::configs_to_record(problem, device);
        const auto searched = tmm::search_space(problem, device, tmm::Effort::normal).candidates;
        REQUIRE(configs.size() > 250);
        CHECK(configs.front() == searched.front());
        std::set<std::string> seen;
        for (const tmm::KernelConfig& config : configs) {
            CHECK_FALSE(tmm::why_invalid(problem, config, device));
            CHECK_MESSAGE(seen.insert(tmm::fields_text(config)).second, tmm::to_text(config));
        }
        // A search that stops after 48 finds all of its candidates.
        for (std::size_t i = 0; i < 48; ++i)
            CHECK_MESSAGE(seen.count(tmm::fields_text(searched[i])) == 1, shape << ": " << tmm::to_text(searched[i]));
    }
}
