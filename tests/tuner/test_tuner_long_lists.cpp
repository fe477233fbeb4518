// Lists of very many shapes: Ctrl-C ends a run of them at once, what was not reached is told in one line, and a dry run shows its beginning
// before it has come to its end.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/support/json_schema_testing.h"
#include "tests/support/tuner_testing.h"

using namespace tuner_testing;
using tmm::testing::schema_faults;
using Clock = std::chrono::steady_clock;

namespace {

std::string many_shapes(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += std::to_string(i % 1024 + 1) + " " + std::to_string(i / 1024 + 1) + " 8\n";
    return text;
}

long lines_of(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
}

// What the run has printed until it is interrupted, and how many seconds it takes to end from there.
struct Interrupted {
    std::string before;
    double seconds = 0;
    Finished finished;
};

Interrupted interrupted(const TunerFolder& folder, const std::vector<std::string>& arguments, const std::function<void()>& wait) {
    const pid_t run = folder.start(folder.usual(arguments));
    wait();
    Interrupted result{.before = read_text(folder.path / "out"), .finished = {}};
    const auto start = Clock::now();
    kill(run, SIGINT);
    result.finished = folder.finish(run);
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
}

void wait_until_printed(const TunerFolder& folder) {
    const auto start = Clock::now();
    while (read_text(folder.path / "out").find("1x1x8") == std::string::npos && Clock::now() - start < std::chrono::seconds(60))
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// A second, and what a machine that does much else needs on top.
constexpr double kSoon = 4;

}  // namespace

TEST_CASE("Ctrl-C in a list of a million shapes ends the run at once, with one line for all that it did not reach") {
    const TunerFolder folder(many_shapes(1'000'000));
    for (const double after : {1.0, 4.0}) {
        CAPTURE(after);
        const Interrupted run = interrupted(folder, {}, [&] { std::this_thread::sleep_for(std::chrono::duration<double>(after)); });
        MESSAGE("ended after ", run.seconds, " s");
        // While it reads the list the signal ends it as it does any program.
        CHECK((run.finished.status == 130 || run.finished.status == -SIGINT));
        CHECK(run.seconds < kSoon);
        CHECK_MESSAGE(lines_of(run.finished.out) < 20, run.finished.out.substr(0, 2000));
    }
}

TEST_CASE("what an interrupted run did is printed, and the rest is counted") {
    const TunerFolder folder("4 4 4\n" + many_shapes(5000));
    const Interrupted run = interrupted(folder, {}, [&] { folder.wait_until_said("4x4x4"); });
    CHECK(run.finished.status == 130);
    CHECK(run.seconds < kSoon);
    CHECK_MESSAGE(lines_of(run.finished.out) < 40, run.finished.out.substr(0, 2000));
    CHECK_MESSAGE(run.finished.out.find(" of 5001 problems: not reached") != std::string::npos, run.finished.out);
    CHECK(run.finished.out.find("interrupted: run again to go on from here") != std::string::npos);

    const Interrupted as_json = interrupted(folder, {"--json"}, [&] { folder.wait_until_said("x"); });
    CHECK(as_json.finished.status == 130);
    CHECK(schema_faults("tune.json", as_json.finished.out) == "");
    const auto device = nlohmann::json::parse(as_json.finished.out)["devices"][0];
    const std::size_t not_reached = device["not_reached"];
    CHECK(not_reached > 4000);
    CHECK(not_reached + device["problems"].size() == 5001);
}

TEST_CASE("a dry run prints what it has looked at, and Ctrl-C ends it with what it has") {
    const TunerFolder folder(many_shapes(100'000));
    const auto wait = [&] { wait_until_printed(folder); };
    const Interrupted run = interrupted(folder, {"--dry-run"}, wait);
    CHECK(run.finished.status == 130);
    CHECK(run.seconds < kSoon);
    CHECK_MESSAGE(run.before.find("1x1x8: ") != std::string::npos, run.before);
    CHECK_MESSAGE(run.finished.out.find("; interrupted: ") != std::string::npos, run.finished.out.substr(run.finished.out.size() / 2));
    CHECK(run.finished.out.find(" problems not looked at\n") != std::string::npos);
    const Interrupted as_json = interrupted(folder, {"--dry-run", "--json"}, wait);
    CHECK(as_json.before.find("\"problem\": \"1x1x8\"") != std::string::npos);
    CHECK(schema_faults("dry_run.json", as_json.finished.out) == "");
    const auto json = nlohmann::json::parse(as_json.finished.out);
    const std::size_t not_reached = json["not_reached"];
    CHECK(not_reached + json["devices"][0]["problems"].size() == 100'000);
}

TEST_CASE("a dry run ends when nobody reads it any more") {
    const TunerFolder folder(many_shapes(100'000));
    const auto start = Clock::now();
    const int status = std::system(("'" + TunerFolder::program() + "' --gpu host --dry-run --shapes '" + folder.shapes().string() +
                                    "' 2>/dev/null | head -n 3 >/dev/null")
                                       .c_str());
    CHECK(status == 0);
    CHECK(std::chrono::duration<double>(Clock::now() - start).count() < 20);
}
