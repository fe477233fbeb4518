// Signals that no kernel raises: whoever sent them, no candidate is blamed, and what lost its turn by them gets another.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/support/kernels/planted_testing.h"
#include "tuner/search/earlier_decision.h"
#include "tuner/worker/worker_connection.h"

using namespace tmm;
using namespace tuner_testing;

namespace {

void pause(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::string raising(int signal) {
    return "        raise(" + std::to_string(signal) + ");";
}
// The file's path as the kernel finds it: its text is the same in all runs, and is compiled once for them.
std::string told(TunerFolder& folder, const std::string& file) {
    folder.environment["TMM_TEST_" + file] = (folder.path / file).string();
    return "getenv(\"TMM_TEST_" + file + "\")";
}

void plant_in(PlantedFolder& folder, const KernelConfig& config, const std::string& code) {
    // The kernels of the host device may call the C library.
    folder.plant(template_of(config), "#pragma once",
                 "extern \"C\" {\nint raise(int) noexcept;\nint access(const char*, int) noexcept;\nint creat(const char*, "
                 "unsigned);\nchar* getenv(const char*) noexcept;\n}");
    folder.plant(template_of(config), kAnchor, "    if constexpr (" + in_kernel(config) + ") {\n" + code + "\n    }");
}

void restore_templates(const PlantedFolder& folder) {
    for (const char* file : kFamilyFiles)
        fs::copy_file(fs::path(TMM_SOURCE_DIR) / "templates/tmm" / file, folder.path / "templates/tmm" / file,
                      fs::copy_options::overwrite_existing);
}

int rows_of(const TunerFolder& folder, const KernelConfig& config) {
    return folder.count("SELECT count(*) FROM measurement JOIN config_fields AS config ON config.id = config_id WHERE " + in_sql(config));
}

}  // namespace

TEST_CASE("a candidate whose worker is ended from outside every time has no result, and is left to another run") {
    PlantedFolder folder("16 16 16\n");
    const std::vector<KernelConfig> configs = candidates(folder);
    // The signals are those of users, terminals, limits and the machine.
    const int signals[] = {SIGKILL, SIGXCPU, SIGUSR1, SIGQUIT, SIGALRM, SIGPROF};
    const std::size_t count = std::min(std::size(signals), configs.size() - 2);
    REQUIRE(count >= 3);
    for (std::size_t i = 0; i < count; ++i) plant_in(folder, configs[i + 1], raising(signals[i]));
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    for (std::size_t i = 0; i < count; ++i) {
        CAPTURE(signals[i]);
        CHECK(rows_of(folder, configs[i + 1]) == 0);
    }
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome <> 0") == 0);
    CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
    CHECK(folder.count("SELECT count(*) FROM selection") == 1);
    CHECK(folder.query("SELECT reason FROM selection").find(" could not be measured: the worker was ended by") != std::string::npos);
    CHECK(finished.err.find("runs again") != std::string::npos);
    CHECK(finished.err.find("is left to another run") != std::string::npos);

    // The decision does not close the problem: nobody sends signals any more.
    const int measured = folder.count("SELECT count(*) FROM measurement");
    restore_templates(folder);
    const Finished next = folder.tune();
    CAPTURE(next.err);
    CHECK(next.status == 0);
    CHECK(folder.count("SELECT count(*) FROM measurement") > measured);
    for (std::size_t i = 0; i < count; ++i) CHECK(rows_of(folder, configs[i + 1]) >= 1);
    CHECK(folder.tune().out.find("nothing to measure") != std::string::npos);
}

TEST_CASE("a worker that is ended from outside once costs its candidate nothing") {
    PlantedFolder folder("16 16 16\n");
    const std::vector<KernelConfig> configs = candidates(folder);
    const int signals[] = {SIGKILL, SIGXCPU, SIGUSR2};
    for (std::size_t i = 0; i < std::size(signals); ++i) {
        const std::string marker = told(folder, "seen" + std::to_string(i));
        plant_in(
            folder, configs.at(i),
            "        if (access(" + marker + ", 0) != 0) {\n        creat(" + marker + ", 0600);\n" + raising(signals[i]) + "\n        }");
    }
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    CHECK(finished.err.find("runs again") != std::string::npos);
    for (std::size_t i = 0; i < std::size(signals); ++i) CHECK(folder.outcome(in_sql(configs[i])).starts_with("ok: "));
    CHECK(folder.tune().out.find("nothing to measure") != std::string::npos);
}

TEST_CASE("a recording lacks the shape whose config's worker is ended from outside, until another run has its time") {
    PlantedFolder folder("4 4 4\n");
    plant_in(folder, candidates(folder).at(1), raising(SIGKILL));
    folder.tool = "tmm-bench";
    const fs::path file = folder.path / "times.csv";
    const auto record = [&] { return folder.run({"--gpu", "host", "--shapes", folder.shapes().string(), "--record", file.string()}); };
    const Finished first = record();
    CHECK(first.status == 6);
    CHECK_MESSAGE(first.err.find("have no result, and are left to another run") != std::string::npos, first.err);
    CHECK_MESSAGE(first.err.find("0 of 1 shapes are complete") != std::string::npos, first.err);
    CHECK(tuner_testing::read_text(file).find("complete") == std::string::npos);

    restore_templates(folder);
    const Finished second = record();
    CHECK(second.status == 0);
    CHECK_MESSAGE(second.err.find("1 of 1 shapes are complete") != std::string::npos, second.err);
}

TEST_CASE("nothing is decided where the default config could not be measured") {
    PlantedFolder folder("16 16 16\n");
    plant_in(folder, candidates(folder).at(0), raising(SIGKILL));
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 6);
    CHECK(finished.out.find("the default config could not be measured") != std::string::npos);
    CHECK(folder.count("SELECT count(*) FROM selection") == 0);
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome <> 0") == 0);
}

TEST_CASE("the time that a worker is stopped is not held against its candidate") {
    PlantedFolder folder("16 16 16\n");
    const KernelConfig waiting = candidates(folder).at(1);
    const fs::path here = folder.path / "here";
    const fs::path on = folder.path / "on";
    plant_in(folder, waiting, "        while (access(" + told(folder, "on") + ", 0) != 0) creat(" + told(folder, "here") + ", 0600);");
    write_text(on, "");
    REQUIRE(folder.tune().status == 0);
    // Nothing else is left to be measured, so that the deadline is six times its floor.
    const std::string config = folder.query("SELECT id FROM config_fields AS config WHERE " + in_sql(waiting));
    folder.query("DELETE FROM selection");
    folder.query("DELETE FROM measurement WHERE config_id = " + config);
    fs::remove(on);
    const pid_t tuner = folder.start(folder.usual({"--deadline-floor", "0.5"}));
    for (int i = 0; i < 3000 && !fs::exists(here); ++i) pause(0.01);
    REQUIRE(fs::exists(here));
    std::vector<pid_t> stopped;
    for (const pid_t child : children_of(tuner))
        if (is_worker(child)) stopped.push_back(child);
    REQUIRE(stopped.size() == 1);
    SUBCASE("with its parent, as Ctrl-Z does") {
        stopped.push_back(tuner);
    }
    SUBCASE("alone") {}
    for (const pid_t process : stopped) kill(process, SIGSTOP);
    pause(4);
    write_text(on, "");
    for (const pid_t process : stopped) kill(process, SIGCONT);
    const Finished finished = folder.finish(tuner);
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    CHECK(folder.query("SELECT outcome FROM measurement WHERE config_id = " + config) == "0");
}

TEST_CASE("a hangup of the terminal ends a run and blames nobody") {
    TunerFolder folder("16 16 16\n17 17 17\n");
    REQUIRE(folder.tune().status == 0);
    for (int i = 0; i < 8; ++i) {
        fs::remove(folder.database());
        const pid_t tuner = folder.start_group(folder.usual());
        pause(0.04 * i);
        kill(-tuner, SIGHUP);
        const Finished finished = folder.finish(tuner);
        CAPTURE(finished.err);
        // Before it waits for signals they end it.
        CHECK((finished.status == 130 || finished.status == -SIGHUP || finished.status == 0));
        if (finished.status == -SIGHUP || !fs::exists(folder.database())) continue;
        CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome <> 0") == 0);
        CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
    }
}

TEST_CASE("a run that nohup started outlives its terminal") {
    TunerFolder folder("4 4 4\n5 5 5\n6 6 6\n7 7 7\n");
    folder.ignored_signals = {SIGHUP};
    const pid_t tuner = folder.start_group(folder.usual());
    folder.wait_until_said("[1/4]");
    kill(-tuner, SIGHUP);
    const Finished finished = folder.finish(tuner);
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    CHECK(folder.count("SELECT count(*) FROM selection") == 4);
}

TEST_CASE("runs find the signals as the test says, whatever it was given itself") {
    PlantedFolder folder("16 16 16\n");
    const KernelConfig quitting = candidates(folder).at(1);
    plant_in(folder, quitting, raising(SIGQUIT));
    {
        const IgnoredSignals ignored({SIGQUIT});
        CHECK(folder.tune().status == 0);
    }
    CHECK(rows_of(folder, quitting) == 0);
    folder.ignored_signals = {SIGQUIT};
    CHECK(folder.tune().status == 0);
    CHECK(folder.outcome(in_sql(quitting)).starts_with("ok: "));
}

TEST_CASE("which signals code raises by what it does") {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) CHECK(is_raised_by_code(signal));
    for (int signal = 1; signal < 32; ++signal) {
        CAPTURE(signal);
        const bool is_raised =
            signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT || signal == SIGTRAP;
        CHECK(is_raised_by_code(signal) == is_raised);
        const std::string text = "worker was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
        CHECK(names_outside_signal(text) == !is_raised);
        CHECK(names_outside_signal("in the run-off: " + text) == !is_raised);
    }
    CHECK_FALSE(names_outside_signal("worker exited with status 9"));
    CHECK_FALSE(names_outside_signal("worker was ended by signal "));
    CHECK_FALSE(names_outside_signal(""));
}

TEST_CASE("a stopped process has no time to work") {
    const pid_t child = fork();
    if (child == 0) {
        while (true) ::pause();
    }
    REQUIRE(child > 0);
    CHECK_FALSE(is_stopped(child));
    kill(child, SIGSTOP);
    waitpid(child, nullptr, WUNTRACED);
    CHECK(is_stopped(child));
    WorkingTime time(child);
    for (int i = 0; i < 10; ++i) {
        pause(0.02);
        time.look();
    }
    CHECK(time.working() == 0);
    CHECK(time.all() >= 0.2);
    kill(child, SIGCONT);
    while (is_stopped(child)) pause(0.01);
    for (int i = 0; i < 10; ++i) {
        pause(0.02);
        time.look();
    }
    CHECK(time.working() > 0);
    CHECK(time.working() < time.all());
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    CHECK_FALSE(is_stopped(child));
}
