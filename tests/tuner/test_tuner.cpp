// tmm-tune from end to end on the emulated device: winners, resuming, reports, and what it says to those who mistype.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include <set>

#include "db/winners/decision_text.h"
#include "tests/support/tuner_testing.h"

using tuner_testing::Finished;
using tuner_testing::TunerFolder;

namespace {

constexpr const char* kAnnounced = "SELECT count(*) FROM in_flight";
constexpr const char* kMeasured = "SELECT count(*) FROM measurement";
constexpr const char* kPassed = "SELECT count(*) FROM measurement WHERE outcome = 0";
constexpr const char* kDecided = "SELECT count(*) FROM selection";

}  // namespace

TEST_CASE("a run finds a winner for every shape, and the next run measures nothing") {
    TunerFolder folder("# two shapes\n4 4 4\n3 5 7 beta=1\n");
    const Finished first = folder.tune();
    CAPTURE(first.err);
    REQUIRE(first.status == 0);
    CHECK(first.out.find("4x4x4") != std::string::npos);
    CHECK(first.out.find("2 of 2 problems have a verified winner") != std::string::npos);
    // Which of the two is faster on a busy machine is nobody's promise.
    CHECK((first.out.find("  naive ") != std::string::npos || first.out.find("  tiled ") != std::string::npos));
    CHECK(first.err.find("[2/2]") != std::string::npos);
    CHECK(first.err.find('\x1b') == std::string::npos);
    CHECK(folder.count(kDecided) == 2);
    CHECK(folder.count(kAnnounced) == 0);
    CHECK(folder.count(kMeasured) == folder.count(kPassed));
    CHECK(folder.count("SELECT count(*) FROM winner") == 2);
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE error_ratio > 1 OR error_ratio IS NULL") == 0);
    CHECK(folder.query("SELECT reason FROM selection").find("candidates measured") != std::string::npos);

    const int measured = folder.count(kMeasured);
    const Finished second = folder.tune();
    CHECK(second.status == 0);
    CHECK(second.out.find("nothing to measure: all 2 problems have verified winners") != std::string::npos);
    CHECK(second.out.find("4x4x4") != std::string::npos);
    CHECK(folder.count(kMeasured) == measured);
    CHECK(folder.count(kDecided) == 2);

    SUBCASE("a new shape is the only one that is measured") {
        folder.set_shapes("4 4 4\n3 5 7 beta=1\n8 8 8\n");
        const Finished third = folder.tune({"--json"});
        REQUIRE(third.status == 0);
        const auto json = nlohmann::json::parse(third.out);
        const auto& problems = json.at("devices").at(0).at("problems");
        REQUIRE(problems.size() == 3);
        CHECK(problems[0].at("state") == "decided_before");
        CHECK(problems[0].at("measured_now") == 0);
        CHECK(problems[2].at("state") == "decided");
        CHECK(problems[2].at("measured_now") > 0);
        CHECK(problems[2].at("config").at("family").is_string());
        CHECK(problems[2].at("median_us") > 0);
        CHECK(problems[2].at("error_ratio") <= 1);
        CHECK(problems[2].at("vs_default") >= 1);
        CHECK(json.at("database") == folder.database().string());
        CHECK(folder.count(kDecided) == 3);
    }
    SUBCASE("a stricter compute mode is decided from the same measurements") {
        const Finished third = folder.tune({"--set", "compute=f32_strict"});
        CAPTURE(third.err);
        REQUIRE(third.status == 0);
        CHECK(folder.count(kMeasured) == measured);
        CHECK(folder.count(kDecided) == 4);
    }
    SUBCASE("a lost measurement is the only one that is taken again") {
        folder.query("DELETE FROM measurement WHERE id = (SELECT max(id) FROM measurement)");
        folder.query("DELETE FROM selection");
        REQUIRE(folder.count(kMeasured) == measured - 1);
        REQUIRE(folder.tune().status == 0);
        CHECK(folder.count(kMeasured) == measured);
    }
}

TEST_CASE("the default's time, the runner-up's and the winner's are those of one run-off, in every view and in later runs") {
    TunerFolder folder("8 8 8\n5 9 7 ops=nt\n");
    const Finished first = folder.tune({"--json"});
    CAPTURE(first.err);
    REQUIRE(first.status == 0);
    const auto problems_of = [](const Finished& run) { return nlohmann::json::parse(run.out).at("devices").at(0).at("problems"); };
    const auto problems = problems_of(first);
    for (const auto& problem : problems) {
        CAPTURE(problem.dump());
        REQUIRE(problem.at("default_us") > 0);
        CHECK(problem.at("vs_default").get<double>() ==
              doctest::Approx(problem.at("default_us").get<double>() / problem.at("median_us").get<double>()));
        CHECK(problem.at("vs_default") >= 1);
        CHECK((problem.at("runner_up").is_null() || problem.at("runner_up_us") > 0));
        // No other measurement has any part in it, however it came out.
        folder.query("UPDATE measurement SET median_us = median_us * 7, low_us = low_us * 7, high_us = high_us * 7 RETURNING id");
    }
    CHECK(folder.count("SELECT count(*) FROM winner WHERE abs(vs_default - default_us / median_us) < 1e-5") == 2);
    const auto again = problems_of(folder.tune({"--json"}));
    for (std::size_t i = 0; i < problems.size(); ++i) {
        CHECK(again[i].at("state") == "decided_before");
        for (const char* figure : {"median_us", "default_us", "vs_default", "runner_up", "runner_up_us"})
            CHECK(again[i].at(figure) == problems[i].at(figure));
    }
}

TEST_CASE("shapes that a budget does not reach get their predicted config, which is said everywhere and counts for no measured one") {
    TunerFolder folder("16 16 16\n24 16 16\n");
    const Finished first = folder.tune({"--budget", "0.001"});
    CAPTURE(first.err);
    CHECK(first.status == 6);
    CHECK(first.out.find("the budget did not reach 2 problems, which have a predicted config that nobody measured") != std::string::npos);
    CHECK(first.err.find(" has no verified winner, like 1 more: predicted, not measured: the budget ended before its turn\n") !=
          std::string::npos);
    CHECK(first.out.find("0 of 2 problems have a verified winner") != std::string::npos);
    CHECK(folder.count("SELECT count(*) FROM winner WHERE predicted AND median_us IS NULL AND reason LIKE 'predicted, not measured%'") ==
          2);
    CHECK(folder.count(kMeasured) == 0);
    CHECK(folder.count(kAnnounced) == 0);

    // Running the same again adds nothing; the JSON has the config, and no figures.
    const auto json = nlohmann::json::parse(folder.tune({"--budget", "0.001", "--json"}).out);
    const auto& problem = json.at("devices").at(0).at("problems").at(0);
    CHECK(problem.at("state") == "predicted");
    CHECK(problem.at("config").at("family").is_string());
    CHECK_FALSE(problem.contains("median_us"));
    CHECK(folder.count(kDecided) == 2);

    const Finished third = folder.tune();
    CHECK(third.status == 0);
    CHECK(third.out.find("2 of 2 problems have a verified winner") != std::string::npos);
    CHECK(folder.count("SELECT count(*) FROM winner WHERE predicted") == 0);
    const int measured = folder.count(kMeasured);
    // Earlier measurements stay in a run that reaches nothing, too.
    const Finished fourth = folder.run({"--gpu", "host", "--shapes", folder.shapes().string(), "--db", folder.database().string(),
                                        "--effort", "normal", "--budget", "0.001"});
    CHECK(fourth.status == 0);
    CHECK(folder.count("SELECT count(*) FROM winner WHERE predicted") == 0);
    CHECK(folder.count(kMeasured) == measured);
}

TEST_CASE("a budget ends what takes too long: a product that the emulation searches for minutes") {
    TunerFolder folder("4 4 4\n640 640 640\n5 5 5\n");
    const auto start = std::chrono::steady_clock::now();
    const Finished run = folder.tune({"--budget", "6", "--json"});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CAPTURE(run.err);
    // The whole search would take many minutes.
    CHECK(seconds < 90);
    const auto problems = nlohmann::json::parse(run.out).at("devices").at(0).at("problems");
    CHECK(problems[1].at("state") != "decided");
    CHECK(folder.count(kAnnounced) == 0);
    // No candidate is blamed for the end of the budget.
    CHECK(folder.count(kMeasured) == folder.count(kPassed));
}

TEST_CASE("what the search rejects is counted the same by --dry-run, by the run and in the database, by rules without numbers") {
    TunerFolder folder("24 16 8\n");
    const auto problem_of = [](const Finished& run) { return nlohmann::json::parse(run.out).at("devices").at(0).at("problems").at(0); };
    const auto dry = problem_of(folder.tune({"--dry-run", "--json"}));
    REQUIRE(dry.at("rejected") > 0);
    const Finished run = folder.tune({"--json"});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    CHECK(problem_of(run).at("rejections") == dry.at("rejections"));
    int total = 0;
    for (const auto& rule : dry.at("rejections")) {
        total += rule.at("count").get<int>();
        CHECK(rule.at("reason").get<std::string>().find("24") == std::string::npos);
    }
    CHECK(dry.at("rejected") == total);
    const std::string first = dry.at("rejections").at(0).at("reason");
    const std::string reason = folder.query("SELECT reason FROM winner");
    CAPTURE(reason);
    CHECK(reason.find("; " + std::to_string(total) + " configs rejected before: ") != std::string::npos);
    CHECK(reason.find(std::to_string(dry.at("rejections").at(0).at("count").get<int>()) + " x " + first) != std::string::npos);
    CHECK(problem_of(folder.tune({"--json"})).at("rejections") == dry.at("rejections"));
    // tmm-db show tells the three apart by these words.
    const tmm::ReasonParts parts = tmm::parts_of_reason(reason);
    CHECK_FALSE(parts.verdict.empty());
    CHECK(parts.verdict.find("candidates") == std::string::npos);
    CHECK(parts.search.find(" candidates measured, ") != std::string::npos);
    CHECK(parts.rejected.starts_with(std::to_string(total) + " configs rejected before: "));
}

TEST_CASE("alpha and beta are shown as they were typed") {
    TunerFolder folder("4 4 4 beta=0.5 alpha=-2\n5 4 4 beta=1\n6 4 4\n");
    const Finished dry = folder.tune({"--dry-run"});
    const Finished run = folder.tune({"--json"});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.err.find("4x4x4 alpha=-2 beta=0.5") != std::string::npos);
    const auto problems = nlohmann::json::parse(run.out).at("devices").at(0).at("problems");
    CHECK(problems[0].at("problem") == "4x4x4 alpha=-2 beta=0.5");
    CHECK(problems[1].at("problem") == "5x4x4 beta=1");
    CHECK(problems[2].at("problem") == "6x4x4");
    for (const Finished& said : {dry, folder.tune()}) {
        CHECK(said.out.find("4x4x4 alpha=-2 beta=0.5") != std::string::npos);
        CHECK(said.out.find("4x4x4 beta=1") == std::string::npos);
    }
}

TEST_CASE("what a budget cut short is done for the same budget; no budget measures the rest") {
    TunerFolder folder("16 16 16\n");
    // Compiled before, so that the budget is for measuring.
    REQUIRE(folder.tune().status == 0);
    const int all = folder.count(kMeasured);
    std::filesystem::remove(folder.database());
    const Finished first = folder.tune({"--budget", "1"});
    CAPTURE(first.err);
    const bool cut = first.out.find("cut short by the budget") != std::string::npos;
    const int measured = folder.count(kMeasured);
    const Finished second = folder.tune({"--budget", "1"});
    if (first.status == 0) {
        CHECK(second.out.find("nothing to measure") != std::string::npos);
        CHECK((second.out.find("cut short by an earlier budget: run without --budget") != std::string::npos) == cut);
        CHECK(folder.count(kMeasured) == measured);
    }
    CHECK(folder.tune().status == 0);
    CHECK(folder.count(kMeasured) == all);
    CHECK(folder.tune().out.find("nothing to measure: the problem has a verified winner") != std::string::npos);
}

TEST_CASE("a quick search after the kernels have changed measures the same configs anew, and once only") {
    TunerFolder folder("16 16 16\n");
    REQUIRE(folder.tune().status == 0);
    const int all = folder.count(kMeasured);
    folder.query(
        "UPDATE measurement SET kernel_hash = 'earlier', median_us = 1000 - id, low_us = 1000 - id, high_us = 1000 - id RETURNING id");
    folder.query("DELETE FROM selection RETURNING id");
    REQUIRE(folder.tune().status == 0);
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE kernel_hash = 'earlier'") == all);
    CHECK(folder.count(kMeasured) == 2 * all);
    CHECK(folder.tune().out.find("nothing to measure") != std::string::npos);
    CHECK(folder.count(kMeasured) == 2 * all);
}

TEST_CASE("after an update of driver, compiler, kernels or candidates the old winner races a few guesses, once, and loses nothing") {
    for (const char* const update :
         {"UPDATE environment SET driver_version = 12000 RETURNING id", "UPDATE environment SET nvrtc_version = 12000 RETURNING id",
          "UPDATE measurement SET kernel_hash = 'earlier' RETURNING id",
          "UPDATE selection SET search_hash = substr(search_hash, 1, instr(search_hash, ':')) || '0123456789abcdef' RETURNING id"}) {
        CAPTURE(std::string(update));
        TunerFolder folder("16 16 16\n");
        REQUIRE(folder.tune().status == 0);
        const int all = folder.count(kMeasured);
        const std::string winner = folder.query("SELECT config FROM winner");
        folder.query(update);
        const Finished raced = folder.tune();
        CHECK(raced.status == 0);
        const int measured = folder.count(kMeasured) - all;
        CHECK(measured >= 2);
        CHECK(folder.count(kDecided) >= 2);
        // Where the old winner holds its own, no more than the race was measured.
        const std::string reason = folder.query("SELECT reason FROM winner");
        if (reason.find("old winner and first guesses") != std::string::npos) CHECK(measured <= 7);
        CHECK(folder.tune().out.find("nothing to measure") != std::string::npos);
        CHECK(folder.count(kMeasured) == all + measured);
    }
}

TEST_CASE("what was fast takes part again, though the search does not offer it any more") {
    constexpr const char* measured =
        "SELECT count(*) FROM measurement JOIN config_fields AS config ON config.id = config_id "
        "WHERE stages = 3 AND block_m = 8 AND block_n = 8 AND block_k = 128";
    TunerFolder folder("8 8 8 dtype=bf16\n");
    REQUIRE(folder.tune().status == 0);
    // The database now looks as if an earlier tmm had offered that config.
    folder.query(
        "UPDATE config SET fields = replace(fields, '\"block_k\":128,', '\"block_k\":128,\"stages\":3,') WHERE id = "
        "(SELECT id FROM config_fields WHERE stages = 1 AND block_m = 8 AND block_n = 8 AND block_k = 128) RETURNING id");
    REQUIRE(folder.count(measured) == 1);
    // There are also faster configs that can't serve the problem, as those of another compute mode can't.
    constexpr const char* useless = "SELECT count(*) FROM config_fields WHERE stages = 16";
    folder.query("UPDATE config SET fields = json_set(fields, '$.stages', 16) WHERE json_extract(fields, '$.stages') = 4 RETURNING id");
    REQUIRE(folder.count(useless) >= 2);
    folder.query(
        "UPDATE measurement SET median_us = 1e-6, low_us = 1e-6, high_us = 1e-6 WHERE config_id IN (SELECT id FROM config_fields WHERE "
        "stages = "
        "16) RETURNING id");
    folder.query("DELETE FROM selection RETURNING id");
    REQUIRE(folder.tune().status == 0);
    CHECK(folder.count(measured) == 2);
    CHECK(folder.tune().out.find("nothing to measure") != std::string::npos);
}

TEST_CASE("a quick search of f16 measures what was fastest with bf16") {
    constexpr const char* measured_for_f16 =
        "SELECT count(*) FROM measurement JOIN problem_fields AS p ON p.id = problem_id JOIN config_fields AS g ON g.id = config_id "
        "WHERE type_a = 'f16' AND block_m = 4 AND block_n = 8 AND block_k = 128";
    for (const bool known : {false, true}) {
        TunerFolder folder("8 8 8 dtype=bf16\n");
        REQUIRE(folder.tune().status == 0);
        // The database now looks as if that config, which is not predicted to be fast, had been measured.
        REQUIRE(folder.count("SELECT count(*) FROM config_fields WHERE stages = 1 AND block_m = 8 AND block_n = 8 AND block_k = 128") == 1);
        if (known)
            folder.query(
                "UPDATE config SET fields = json_set(fields, '$.block_m', 4) WHERE id = (SELECT id FROM config_fields WHERE stages = 1 AND "
                "block_m = 8 AND block_n = 8 AND block_k = 128) RETURNING id");
        folder.query(
            "UPDATE measurement SET median_us = 1e-3, low_us = 1e-3, high_us = 1e-3 WHERE config_id IN "
            "(SELECT id FROM config_fields WHERE block_m = 4 AND block_n = 8 AND block_k = 128) RETURNING id");
        folder.set_shapes("8 8 8 dtype=f16\n");
        const Finished finished = folder.tune();
        CAPTURE(finished.err);
        REQUIRE(finished.status == 0);
        CHECK(folder.count(measured_for_f16) == (known ? 1 : 0));
    }
}

TEST_CASE("a dry run says what would be measured and why the rest would not, and leaves no trace") {
    TunerFolder folder("64 64 64\n");
    const Finished text = folder.tune({"--dry-run"});
    CHECK(text.status == 0);
    CHECK(text.out.find("64x64x64: ") != std::string::npos);
    CHECK(text.out.find("candidates") != std::string::npos);
    CHECK(text.out.find("nothing was measured") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.database()));
    const auto json = nlohmann::json::parse(folder.tune({"--dry-run", "--json"}).out).at("devices").at(0);
    CHECK(json.at("device") == "host");
    CHECK(json.at("problems").at(0).at("candidates").size() > 1);
    CHECK(json.at("problems").at(0).at("rejections").is_array());
}

TEST_CASE("sizes that vary are tuned at sixteen sizes at most, and parts of them are parts of the same ones") {
    TunerFolder folder("1:4000:auto 8 8\n3 8 8\n");
    const auto sizes_of = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"--dry-run", "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        std::vector<std::string> shapes;
        const auto json = nlohmann::json::parse(folder.tune(arguments).out);
        for (const auto& problem : json.at("devices").at(0).at("problems")) shapes.push_back(problem.at("problem"));
        return shapes;
    };
    const std::vector<std::string> all = sizes_of({});
    CHECK(all.size() >= 8);
    CHECK(all.size() <= 17);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
    std::vector<std::string> parts;
    for (const char* part : {"0/3", "1/3", "2/3"})
        for (const std::string& shape : sizes_of({"--shard", part})) parts.push_back(shape);
    CHECK(std::multiset<std::string>(parts.begin(), parts.end()) == std::multiset<std::string>(all.begin(), all.end()));

    // A run tunes what the dry run lists.
    folder.set_shapes("1:9:auto 4 4\n");
    const std::vector<std::string> few = sizes_of({});
    CHECK(folder.tune().status == 0);
    CHECK(folder.count("SELECT count(*) FROM winner") == static_cast<int>(few.size()));
}

TEST_CASE("16-bit operands are tuned like others, and the database says what they were") {
    TunerFolder folder("3 5 7 dtype=bf16 beta=1\n1 9 40 dtype=f16 ctype=f32 ops=nt align=2\n");
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    REQUIRE(finished.status == 0);
    CHECK(finished.out.find("3x5x7 dtype=bf16 beta=1") != std::string::npos);
    CHECK(finished.out.find("2 of 2 problems have a verified winner") != std::string::npos);
    CHECK(folder.count(kMeasured) == folder.count(kPassed));
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE error_ratio > 1 OR error_ratio IS NULL") == 0);
    CHECK(folder.count("SELECT count(*) FROM problem_fields WHERE type_a = 'bf16' AND type_b = 'bf16' AND type_c = 'bf16'") == 1);
    CHECK(folder.count("SELECT count(*) FROM problem_fields WHERE type_a = 'f16' AND type_b = 'f16' AND type_c = 'f32'") == 1);
    // Plain and vectorized kernels both took part.
    CHECK(folder.count("SELECT count(DISTINCT family) FROM config_fields") > 1);
    CHECK(folder.tune().out.find("nothing to measure: all 2 problems have verified winners") != std::string::npos);
}

TEST_CASE("a problem that no kernel serves has no winner and a reason; the others have theirs") {
    TunerFolder folder("4 4 4 dtype=f64 ctype=f32\n4 4 4\n");
    const Finished dry = folder.tune({"--dry-run"});
    CHECK(dry.status == 0);
    CHECK(dry.out.find("4x4x4 dtype=f64 ctype=f32: no kernel serves it: tmm's C has the type of A and B, or f32") != std::string::npos);
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 6);
    CHECK(finished.out.find("no kernel serves it") != std::string::npos);
    CHECK(finished.out.find("1 of 2 problems have a verified winner") != std::string::npos);
    CHECK(folder.count(kDecided) == 1);
}

TEST_CASE("each mistake has its exit status, a reason and a way out") {
    TunerFolder folder;
    const auto check = [&](const std::vector<std::string>& arguments, int status, const char* says) {
        const Finished finished = folder.run(arguments);
        CAPTURE(says);
        CAPTURE(finished.err);
        CHECK(finished.status == status);
        CHECK(finished.err.find(says) != std::string::npos);
        CHECK(finished.out.empty());
    };
    const std::string shapes = folder.shapes().string();
    check({}, 1, "--gpu is missing");
    check({"--gpu", "host"}, 1, "--shapes is missing");
    check({"--gpu", "nine", "--shapes", shapes}, 1, "'nine' is no GPU");
    check({"--gpu", "0,0", "--shapes", shapes}, 1, "named twice");
    check({"--gpu", "host", "--shapes", shapes, "--effort", "much"}, 1, "one of quick, normal, full");
    check({"--gpu", "host", "--shapes", shapes, "--budget", "-1"}, 1, "'-1' is not a number from 0.001");
    check({"--gpu", "host", "--shapes", shapes, "--set", "compute"}, 1, "key=value");
    check({"--gpu", "host", "--shapes", shapes, "--colour"}, 1, "--colour");
    check({"--gpu", "host", "--shapes", shapes, "--db", ""}, 1, "--db");
    check({"--gpu", "host", "--shapes", ""}, 1, "--shapes");
    check({"--gpu", "host", "--shapes", "/no/such/file.txt"}, 2, "/no/such/file.txt");
    tuner_testing::write_text(folder.shapes(), "4 4 4\n5 x 5\n");
    check(folder.usual(), 2, "shapes.txt:2:3");
    tuner_testing::write_text(folder.shapes(), "# nothing\n");
    check(folder.usual(), 2, "shapes.txt");
    tuner_testing::write_text(folder.shapes(), "4 4 4\n");
    check({"--gpu", "host", "--shapes", shapes, "--db", folder.path.string()}, 5, folder.path.c_str());
    tuner_testing::write_text(folder.database(), "this is no database, whatever its name says, and long enough to be read as a page");
    check(folder.usual(), 5, "tmm.db");
    const Finished help = folder.run({"--help"});
    CHECK(help.status == 0);
    CHECK(help.out.find("--budget") != std::string::npos);
    CHECK(help.out.find("--worker") == std::string::npos);
}

TEST_CASE("a stderr that is full or closed stops no run, and nothing else is written to it") {
    for (const char* stderr_file : {"/dev/full", ""}) {
        CAPTURE(stderr_file);
        TunerFolder folder("4 4 4\n5 5 5\n");
        // Compiled anew, so that files are written while stderr is closed.
        if (*stderr_file == '\0') folder.environment["TMM_CACHE_DIR"] = (folder.path / "cache").string();
        folder.stderr_file = stderr_file;
        const Finished finished = folder.tune();
        CHECK(finished.status == 0);
        CHECK(finished.out.find("2 of 2 problems have a verified winner") != std::string::npos);
        folder.stderr_file = folder.path / "err";
        CHECK(folder.tune().out.find("nothing to measure") != std::string::npos);
    }
}

TEST_CASE("one signal ends a dry run, and a wait for the shapes") {
    TunerFolder folder("1:200:1 1:50:1 16\n");
    const pid_t dry = folder.start(folder.usual({"--dry-run"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(dry, SIGINT);
    const Finished finished = folder.finish(dry);
    CHECK(finished.status == 130);
    CHECK_MESSAGE(finished.out.find("; interrupted: ") != std::string::npos, finished.out);

    std::filesystem::remove(folder.shapes());
    REQUIRE(mkfifo(folder.shapes().c_str(), 0600) == 0);
    const pid_t waiting = folder.start(folder.usual());
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(waiting, SIGTERM);
    CHECK(folder.finish(waiting).status == -SIGTERM);
}

TEST_CASE("a terminal that goes away interrupts a run like Ctrl-C") {
    TunerFolder folder("4 4 4\n5 5 5\n6 6 6\n7 7 7\n");
    const pid_t pid = folder.start(folder.usual());
    folder.wait_until_said("[1/4]");
    kill(pid, SIGHUP);
    CHECK(folder.finish(pid).status == 130);
    CHECK(folder.tune().status == 0);
}

TEST_CASE("Ctrl-C keeps what was measured, takes back what was announced, and the next run goes on") {
    TunerFolder folder("4 4 4\n5 5 5\n6 6 6\n7 7 7\n8 8 8\n");
    const pid_t pid = folder.start(folder.usual());
    folder.wait_until_said("[1/5]");
    kill(pid, SIGINT);
    const Finished finished = folder.finish(pid);
    CAPTURE(finished.err);
    CHECK(finished.status == 130);
    CHECK(finished.out.find("interrupted") != std::string::npos);
    CHECK(folder.count(kAnnounced) == 0);
    const int measured = folder.count(kMeasured);
    CHECK(measured > 0);
    CHECK(folder.query("PRAGMA integrity_check") == "ok");
    const Finished next = folder.tune();
    CHECK(next.status == 0);
    CHECK(next.out.find("5 of 5 problems have a verified winner") != std::string::npos);
    CHECK(folder.count("SELECT count(*) FROM (SELECT 1 FROM measurement GROUP BY problem_id, config_id HAVING count(*) > 1)") == 0);
}

TEST_CASE("a shape that is too large for the emulated device is said to be at once, and the others are tuned") {
    const TunerFolder folder("3000 3000 3000\n4 4 4\n");
    const Finished run = folder.run(folder.usual());
    INFO(run.err);
    INFO(run.out);
    CHECK(run.status == 6);
    CHECK(run.out.find("3000x3000x3000: it is too large for the emulated device, which would take") != std::string::npos);
    CHECK(run.out.find("4x4x4") != std::string::npos);
    CHECK(run.out.find("TFLOP") == std::string::npos);
}
