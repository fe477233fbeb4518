// Candidates that hang, fault, write out of bounds or compute wrongly, planted in a copy of the templates: each is recorded as
// what it did, none wins, and the run goes on to its end.
#include <doctest/doctest.h>

#include "db/store/process.h"
#include "tests/support/kernels/planted_testing.h"

using namespace tmm;
using namespace tuner_testing;

TEST_CASE("hanging, faulting, overrunning and wrong candidates are recorded by name and never win") {
    PlantedFolder folder("16 16 16\n");
    const std::vector<KernelConfig> configs = candidates(folder);
    REQUIRE(configs.size() >= 6);
    // The default config among them: it races, and loses.
    const KernelConfig wrong = configs[0];
    const KernelConfig hanging = configs[1];
    const KernelConfig faulting = configs[2];
    const KernelConfig overrunning = configs[3];
    const auto plant = [&](const KernelConfig& config, const std::string& code) {
        folder.plant(template_of(config), kAnchor, "    if constexpr (" + in_kernel(config) + ") {\n" + code + "\n    }");
    };
    plant(wrong, "        return;");
    plant(hanging, "        volatile bool on = true;\n        while (on) {\n        }");
    plant(faulting, "        *reinterpret_cast<volatile int*>(args.k) = 1;");
    plant(overrunning, "        static_cast<volatile float*>(args.c)[-1] = 1.0f;");

    const Finished finished = folder.tune({"--deadline-floor", "2"});
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    CHECK(folder.outcome(in_sql(wrong)).starts_with("wrong_result: "));
    CHECK(folder.outcome(in_sql(hanging)).starts_with("timed_out: no result within"));
    CHECK(folder.outcome(in_sql(faulting)).starts_with("crashed: "));
    const std::string overrun = folder.outcome(in_sql(overrunning));
    // Under AddressSanitizer the worker ends at the write itself.
    CHECK((overrun.starts_with("wrong_result: ") || overrun.starts_with("crashed: ")));
    for (const KernelConfig& planted : {wrong, hanging, faulting, overrunning}) CHECK(folder.wins(in_sql(planted)) == 0);
    CHECK(folder.wins("1") == 1);
    CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
    CHECK(finished.err.find("timed_out") != std::string::npos);
    const char* wrong_count = overrun.starts_with("wrong_result: ") ? "2 candidates" : "1 candidate";
    CHECK(finished.out.find(std::string("; ") + wrong_count + " gave wrong results and can't win") != std::string::npos);
    CHECK(folder.query("SELECT reason FROM selection").find("failed: ") != std::string::npos);

    const Finished again = folder.tune({"--deadline-floor", "2"});
    CHECK(again.status == 0);
    CHECK(again.out.find("nothing to measure") != std::string::npos);
}

TEST_CASE("Ctrl-C ends a run whose candidate hangs, and blames nobody; a second one ends it at once") {
    PlantedFolder folder("16 16 16\n");
    // All families get the fault: whichever is compiled first is measured first.
    for (const char* file : kFamilyFiles) folder.plant(file, kAnchor, "    volatile bool on = true;\n    while (on) {\n    }");
    const pid_t pid = folder.start(folder.usual());
    const auto announced = [&] {
        try {
            return folder.count("SELECT count(*) FROM in_flight") == 1;
        } catch (const std::exception&) {
            return false;  // The database is not there yet.
        }
    };
    for (int i = 0; i < 3000 && !announced(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(announced());
    bool twice = false;
    SUBCASE("once") {}
    SUBCASE("twice") {
        twice = true;
    }
    kill(pid, SIGINT);
    if (twice) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        kill(pid, SIGINT);
    }
    const Finished finished = folder.finish(pid);
    CAPTURE(finished.err);
    CHECK(finished.status == 130);
    CHECK(folder.count("SELECT count(*) FROM measurement") == 0);
    CHECK(folder.count("SELECT count(*) FROM in_flight") == (twice ? 1 : 0));
    if (!twice) CHECK(finished.out.find("interrupted after 0 of") != std::string::npos);
}

TEST_CASE("where no candidate is right the problem has no winner, the exit status says so, and what was seen is kept") {
    PlantedFolder folder("4 4 4\n");
    for (const char* file : kFamilyFiles) folder.plant(file, kAnchor, "    return;");
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 6);
    CHECK(finished.out.find("no candidate passed") != std::string::npos);
    CHECK(folder.wins("1") == 0);
    CHECK(folder.count("SELECT count(*) FROM measurement") > 0);
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome = 0") == 0);
}

TEST_CASE("a candidate that was running when the machine went down is quarantined by name; when its tuner was killed it runs again") {
    TunerFolder folder("4 4 4\n");
    REQUIRE(folder.tune().status == 0);
    // The database is as killed runs leave it: the candidate is announced by a process that is no more.
    folder.query("DELETE FROM selection");
    ProcessIdentity announcer = this_process();
    bool restarted = false;
    SUBCASE("the machine went down") {
        announcer.boot_id = "another";
        restarted = true;
    }
    SUBCASE("the tuner was killed, many times") {}
    SUBCASE("the tuner was killed on another host") {
        announcer.boot_id = "another";
        announcer.host = "elsewhere";
    }
    folder.query("INSERT INTO in_flight SELECT device.id, problem_id, config_id, 0, kernel_name, 7, '" + machine_text(announcer) +
                 "', 1, 1, 0 FROM measurement, device LIMIT 1");
    folder.query("DELETE FROM measurement WHERE config_id = (SELECT config_id FROM in_flight)");
    const std::string name = folder.query("SELECT kernel_name FROM in_flight");
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    CHECK((finished.err.find("quarantined") != std::string::npos) == restarted);
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome = 5") == (restarted ? 1 : 0));
    if (restarted) CHECK(folder.query("SELECT kernel_name FROM measurement WHERE outcome = 5") == name);
    CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
    CHECK(folder.count("SELECT count(*) FROM selection WHERE config_id = (SELECT config_id FROM measurement WHERE outcome = 5)") == 0);
}

TEST_CASE("finalists are announced; a machine that goes down in a run-off puts them in quarantine, a killed tuner does not") {
    TunerFolder folder("192 192 192\n");
    const Finished complete = folder.tune();
    CAPTURE(complete.err);
    REQUIRE(complete.status == 0);
    const int measured = folder.count("SELECT count(*) FROM measurement");
    int announced = 0;
    // A run-off may be over before it is looked at, or before the kill.
    for (int attempt = 0; attempt < 20 && announced == 0; ++attempt) {
        // Nothing else is left to do.
        folder.query("DELETE FROM selection");
        const pid_t pid = folder.start(folder.usual());
        bool ended = false;
        while (!ended && folder.count("SELECT count(*) FROM in_flight") == 0) ended = waitpid(pid, nullptr, WNOHANG) == pid;
        if (!ended) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
        if (folder.count("SELECT count(*) FROM selection") == 0) announced = folder.count("SELECT count(*) FROM in_flight");
    }
    REQUIRE(announced > 0);
    const std::string finalist = folder.query("SELECT config_id FROM in_flight");

    SUBCASE("the tuner was killed, even twice") {
        folder.query("UPDATE in_flight SET attempts = 2");
        const Finished next = folder.tune();
        CAPTURE(next.err);
        CHECK(next.status == 0);
        CHECK(next.err.find("quarantined") == std::string::npos);
        CHECK(folder.count("SELECT count(*) FROM measurement") == measured);
    }
    SUBCASE("the machine went down") {
        folder.query("UPDATE in_flight SET boot_id = 'another' || substr(boot_id, instr(boot_id, ' '))");
        const Finished next = folder.tune();
        CAPTURE(next.err);
        CHECK(next.status == 0);
        CHECK(next.err.find("quarantined: the machine went down") != std::string::npos);
        CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
        CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome = 5") == announced);
        CHECK(folder.count("SELECT count(*) FROM selection WHERE config_id = " + finalist) == 0);
    }
    CHECK(folder.count("SELECT count(*) FROM selection") == 1);
}

TEST_CASE("how a worker ended is known where SIGCHLD is ignored") {
    PlantedFolder folder("16 16 16\n");
    const KernelConfig faulting = candidates(folder).at(1);
    folder.plant(template_of(faulting), kAnchor,
                 "    if constexpr (" + in_kernel(faulting) + ") {\n        *reinterpret_cast<volatile int*>(args.k) = 1;\n    }");
    folder.ignored_signals = {SIGCHLD};
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    const std::string outcome = folder.outcome(in_sql(faulting));
    CHECK(outcome.starts_with("crashed: worker "));
    CHECK_MESSAGE(outcome.find("status 0") == std::string::npos, outcome);
}
