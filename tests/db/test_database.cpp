// The tuning database keeps what is stored: measurements, announcements, decisions, winners; for many devices and writers.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/log.h"
#include "db/store/process.h"
#include "db/store/record_text.h"
#include "db/store/records.h"
#include "generator/text/text.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

TuningDatabase open(const std::filesystem::path& file, const std::string& device = "NVIDIA H200") {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of(device));
    return database;
}

void check_equal(const Measurement& x, const Measurement& y) {
    CHECK(x.outcome == y.outcome);
    CHECK(x.detail == y.detail);
    CHECK(x.median_us == y.median_us);
    CHECK(x.low_us == y.low_us);
    CHECK(x.high_us == y.high_us);
    CHECK(x.samples == y.samples);
    CHECK(x.error_ratio == y.error_ratio);
    CHECK(x.registers == y.registers);
    CHECK(x.spill_bytes == y.spill_bytes);
    CHECK(x.shared_bytes == y.shared_bytes);
    CHECK(x.workspace_bytes == y.workspace_bytes);
    CHECK(x.sm_clock_mhz == y.sm_clock_mhz);
    CHECK(x.throttled == y.throttled);
    CHECK(x.kernel_name == y.kernel_name);
    CHECK(x.kernel_hash == y.kernel_hash);
}

}  // namespace

TEST_CASE("a measurement comes back as it was stored, in another connection too") {
    const TemporaryDirectory directory;
    const auto problem = problem_of("1023 1025 77 dtype=f16 ctype=f32 ops=tn batch=3 lda=1100 align=4 beta=1");
    const Measurement stored{.outcome = Outcome::ok,
                             .median_us = 1.0 / 3,
                             .low_us = 0.1,
                             .high_us = 1e9,
                             .samples = 123,
                             .error_ratio = 0.7,
                             .registers = 255,
                             .spill_bytes = 8,
                             .shared_bytes = 232448,
                             .workspace_bytes = 1LL << 40,
                             .sm_clock_mhz = 1980,
                             .throttled = true,
                             .kernel_name = "one+two",
                             .kernel_hash = "0123456789abcdef+fedcba9876543210"};
    {
        auto database = open(directory / "new/folder/tmm.db");
        CHECK(database.measurements(problem).empty());
        database.record(problem, tiled_config(16), {}, stored);
        database.record(problem, tiled_config(32), {}, {.outcome = Outcome::compile_failed, .detail = "first\nsecond\x1b[31m"});
    }
    auto database = open(directory / "new/folder/tmm.db");
    const auto rows = database.measurements(problem);
    REQUIRE(rows.size() == 2);
    const auto& first = rows[rows[0].config == tiled_config(16) ? 0 : 1];
    const auto& second = rows[rows[0].config == tiled_config(16) ? 1 : 0];
    CHECK(first.config == tiled_config(16));
    check_equal(first.measurement, stored);
    CHECK(first.measured_at > 1'700'000'000);
    // A detail is one line, and nothing in it commands a terminal.
    check_equal(second.measurement, {.outcome = Outcome::compile_failed, .detail = "first second [31m"});
    const auto records = database.records();
    REQUIRE(records.size() == 2);
    auto stored_problem = problem;
    stored_problem.compute = ComputeMode::f32;
    CHECK(records[0].problem == stored_problem);
    CHECK(records[0].environment.device.memory_bytes == 1LL << 37);
    CHECK(records[0].environment.device.power_limit == 700);
    CHECK(records[0].environment.nvrtc_version == 12090);
}

TEST_CASE("numbers that are none are stored as unknown") {
    const TemporaryDirectory directory;
    auto database = open(directory / "tmm.db");
    auto strange = measured(std::numeric_limits<double>::quiet_NaN());
    strange.error_ratio = std::numeric_limits<double>::infinity();
    strange.outcome = Outcome::inaccurate;
    database.record(problem_of("8 8 8"), tiled_config(8), {}, strange);
    const auto rows = database.measurements(problem_of("8 8 8"));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].measurement.median_us == 0);
    CHECK(rows[0].measurement.error_ratio == std::numeric_limits<double>::infinity());
}

TEST_CASE("a measurement belongs to kernel, config, problem, device and policy; the compute mode does not matter") {
    const TemporaryDirectory directory;
    auto database = open(directory / "tmm.db");
    const auto problem = problem_of("64 64 64");
    database.record(problem, tiled_config(16), {}, measured(10, "aa"));
    CHECK(database.measurements(problem_of("64 64 64 compute=f32_strict")).size() == 1);
    CHECK(database.measurements(problem_of("64 64 65")).empty());
    CHECK(database.measurements(problem_of("64 64 64 beta=1")).empty());
    CHECK(database.measurements(problem, {.cold_l2 = false}).empty());
    CHECK(open(directory / "tmm.db", "NVIDIA L4").measurements(problem).empty());

    // Another kernel text is another measurement; measuring again keeps both rows, and the newest counts.
    database.record(problem, tiled_config(16), {}, measured(9, "bb"));
    CHECK(database.measurements(problem).size() == 2);
    database.record(problem, tiled_config(16), {}, measured(8, "bb"));
    const auto rows = database.measurements(problem);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].measurement.median_us == 8);
    CHECK(rows[1].measurement.median_us == 10);
    CHECK(database.records().size() == 3);
}

TEST_CASE("an announcement without a result is found again, with its attempts; a result or a withdrawal ends it") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    const auto problem = problem_of("64 64 64 dtype=f64");
    auto database = open(file);
    CHECK(database.unfinished_runs().empty());
    database.announce(problem, tiled_config(16), "tmm_tiled");
    database.announce(problem, tiled_config(32), "tmm_other");
    database.announce(problem, tiled_config(16), "tmm_tiled");
    const auto runs = open(file).unfinished_runs();
    REQUIRE(runs.size() == 2);
    const auto& twice = runs[runs[0].config == tiled_config(16) ? 0 : 1];
    CHECK(twice.problem == problem);
    CHECK(twice.config == tiled_config(16));
    CHECK(twice.kernel_name == "tmm_tiled");
    CHECK(twice.attempts == 2);
    CHECK_FALSE(twice.machine_restarted);
    CHECK(open(file, "NVIDIA L4").unfinished_runs().empty());

    database.withdraw(problem, tiled_config(16));
    CHECK(database.unfinished_runs().size() == 1);
    database.record(problem, tiled_config(32), {}, measured(5));
    CHECK(database.unfinished_runs().empty());
    database.withdraw(problem, tiled_config(32));  // nothing to withdraw is no fault
    database.withdraw(problem_of("1 2 3"), tiled_config(32));
}

TEST_CASE("a machine is known by the first of its GPUs, since a container may keep its name on another machine") {
    const TemporaryDirectory folder;
    CHECK(first_gpu(folder / "nothing").empty());
    const auto add = [&](const char* address, const std::string& number) {
        std::filesystem::create_directory(folder / address);
        std::ofstream(folder / address / "information") << "Model: \t NVIDIA H200\nIRQ: \t 18\n" << number << "Bus Type: \t PCIe\n";
    };
    add("0000:18:00.0", "GPU UUID: \t GPU-77aa00bb-1111-2222-3333-444455556666\n");
    CHECK(first_gpu(folder / "") == "GPU-77aa00bb");
    add("0000:2a:00.0", "GPU UUID: \t GPU-1b2c3d4e-1111-2222-3333-444455556666\n");
    add("0000:3b:00.0", "");
    CHECK(first_gpu(folder / "") == "GPU-1b2c3d4e");
}

TEST_CASE("a run that another living process or host has announced goes on; its death or the machine's restart makes it unfinished") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    const auto problem = problem_of("64 64 64");
    int ready[2], leave[2];
    REQUIRE(pipe(ready) == 0);
    REQUIRE(pipe(leave) == 0);
    const pid_t child = fork();
    if (child == 0) {
        open(file).announce(problem, tiled_config(16), "tmm_tiled");
        char byte = 0;
        close(leave[1]);
        if (write(ready[1], "r", 1) != 1) _exit(1);
        _exit(read(leave[0], &byte, 1) < 0);
    }
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    auto database = open(file);
    CHECK(database.unfinished_runs().empty());
    close(leave[1]);
    REQUIRE(waitpid(child, nullptr, 0) == child);
    REQUIRE(database.unfinished_runs().size() == 1);
    CHECK_FALSE(database.unfinished_runs()[0].machine_restarted);
    const auto announced_by = [&](const std::string& machine) {
        SQLite::Database(file, SQLite::OPEN_READWRITE).exec("UPDATE in_flight SET boot_id = '" + machine + "'");
        const auto runs = database.unfinished_runs();
        REQUIRE(runs.size() == 1);
        return runs[0];
    };
    const ProcessIdentity self = this_process();
    CHECK(announced_by(machine_text({.host = self.host, .boot_id = "before"})).machine_restarted);
    // Another host's start differs from this one's, which says nothing; a row of an older version names no host.
    for (const std::string& machine : {machine_text({.host = "elsewhere", .boot_id = "before"}),
                                       machine_text({.host = "elsewhere", .boot_id = self.boot_id}), std::string("before")}) {
        CAPTURE(machine);
        CHECK(announced_by(machine).is_elsewhere);
        CHECK_FALSE(announced_by(machine).machine_restarted);
    }
    database.announce(problem, tiled_config(16), "tmm_tiled");
    REQUIRE(database.unfinished_runs().size() == 1);
    CHECK(database.unfinished_runs()[0].attempts == 2);
    CHECK_FALSE(database.unfinished_runs()[0].is_elsewhere);
    CHECK_FALSE(database.unfinished_runs()[0].machine_restarted);
    for (const int end : {ready[0], ready[1], leave[0]}) close(end);
}

TEST_CASE("the newest decision counts, for each compute mode and policy by itself") {
    const TemporaryDirectory directory;
    auto database = open(directory / "tmm.db");
    const auto problem = problem_of("64 64 64"), strict = problem_of("64 64 64 compute=f32_strict");
    CHECK_FALSE(database.decision(problem));
    database.decide(problem, {},
                    {.config = tiled_config(8), .median_us = 3, .candidates = 7, .reason = "first round", .search_hash = "s1"});
    database.decide(strict, {}, {.config = tiled_config(4), .median_us = 9});
    database.decide(problem, {}, {.config = tiled_config(16), .median_us = 2, .candidates = 8, .reason = "run-off", .search_hash = "s2"});
    const auto decision = database.decision(problem);
    REQUIRE(decision);
    CHECK(decision->config == tiled_config(16));
    CHECK(decision->median_us == 2);
    CHECK(decision->candidates == 8);
    CHECK(decision->reason == "run-off");
    CHECK(decision->search_hash == "s2");
    CHECK(database.decision(strict)->config == tiled_config(4));
    CHECK_FALSE(database.decision(problem, {.graph = false}));
    CHECK_FALSE(open(directory / "tmm.db", "NVIDIA L4").decision(problem));
}

TEST_CASE("winners: one row a problem, compute mode and device, under the default policy, the same in the view") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    const auto problem = problem_of("1024 512 256 ops=nt"), strict = problem_of("1024 512 256 ops=nt compute=f32_strict");
    auto h200 = open(file);
    h200.record(problem, tiled_config(32), {}, measured(20));
    h200.decide(problem, {}, {.config = tiled_config(16), .median_us = 30});
    h200.decide(problem, {}, {.config = tiled_config(32), .median_us = 20, .reason = "fastest of 2"});
    h200.decide(strict, {}, {.config = tiled_config(8), .median_us = 25});
    h200.decide(problem, {.cold_l2 = false}, {.config = tiled_config(4), .median_us = 1});
    open(file, "NVIDIA L4").decide(problem, {}, {.config = tiled_config(16), .median_us = 80});

    auto winners = h200.winners();
    REQUIRE(winners.size() == 3);
    std::sort(winners.begin(), winners.end(), [](const auto& x, const auto& y) { return x.median_us < y.median_us; });
    CHECK(winners[0].problem == problem);
    CHECK(winners[0].device == "NVIDIA H200");
    CHECK(winners[0].compute_capability == 90);
    CHECK(winners[0].sm_count == 132);
    CHECK(winners[0].config == tiled_config(32));
    CHECK(winners[0].median_us == 20);
    CHECK(winners[0].error_ratio == 0.125);
    CHECK(winners[0].reason == "fastest of 2");
    CHECK(winners[0].origin == "user");
    CHECK(winners[1].problem == strict);
    CHECK(winners[1].error_ratio == -1);
    CHECK(winners[2].device == "NVIDIA L4");

    SQLite::Database raw(file);
    SQLite::Statement view(raw,
                           "SELECT shape, device, config, median_us, tflops, ops, type_a, compute, family, block_m, boundary, origin, "
                           "reason FROM winner ORDER BY median_us");
    REQUIRE(view.executeStep());
    CHECK(view.getColumn(0).getString() == "1024x512x256 ops=nt");
    CHECK(view.getColumn(1).getString() == "NVIDIA H200");
    CHECK(view.getColumn(2).getString() == to_text(tiled_config(32)));
    CHECK(view.getColumn(3).getDouble() == 20);
    CHECK(view.getColumn(4).getDouble() == doctest::Approx(2.0 * 1024 * 512 * 256 / 20 / 1e6));
    CHECK(view.getColumn(5).getString() == "nt");
    CHECK(view.getColumn(6).getString() == "f32");
    CHECK(view.getColumn(7).getString() == "f32");
    CHECK(view.getColumn(8).getString() == "tiled");
    CHECK(view.getColumn(9).getInt() == 32);
    CHECK(view.getColumn(10).getString() == "guarded");
    CHECK(view.getColumn(11).getString() == "user");
    CHECK(view.getColumn(12).getString() == "fastest of 2");
    REQUIRE(view.executeStep());
    CHECK(view.getColumn(0).getString() == "1024x512x256 compute=f32_strict ops=nt");
    REQUIRE(view.executeStep());
    CHECK_FALSE(view.executeStep());
}

TEST_CASE("a user's decision goes before a shipped one, however old it is") {
    const TemporaryDirectory directory;
    auto database = open(directory / "tmm.db");
    TuningRecord record{.kind = TuningRecord::Kind::selection,
                        .environment = environment_of("NVIDIA H200"),
                        .problem = problem_of("64 64 64"),
                        .config = tiled_config(32),
                        .time = 2'000'000'000,
                        .origin = "shipped"};
    database.insert({record});
    REQUIRE(database.winners().size() == 1);
    CHECK(database.winners()[0].origin == "shipped");
    record.config = tiled_config(16);
    record.time = 1'000'000'000;
    record.origin = "user";
    database.insert({record});
    REQUIRE(database.winners().size() == 1);
    CHECK(database.winners()[0].origin == "user");
    CHECK(database.decision(record.problem)->config == tiled_config(16));
}

TEST_CASE("what a program raced keeps both times, and stands behind what was searched for") {
    const TemporaryDirectory directory;
    auto database = open(directory / "tmm.db");
    database.set_environment(environment_of("NVIDIA H200"));
    const GemmProblem problem = problem_of("64 64 64");
    TuningDatabase::Decision raced{.config = tiled_config(32), .median_us = 7, .candidates = 1};
    raced.origin = "raced";
    raced.runner_up_us = 11;
    database.decide(problem, {}, raced);
    const auto check_raced = [](const std::vector<WinnerRow>& winners) {
        REQUIRE(winners.size() == 1);
        CHECK(winners[0].origin == "raced");
        CHECK(winners[0].median_us == 7);
        CHECK(winners[0].library_us == 11);
    };
    check_raced(database.winners());
    // Exports and merges keep it.
    auto other = open(directory / "other.db");
    other.insert(parse_records(to_csv(database.records()), "export"));
    check_raced(other.winners());
    // It hides no shipped winner of its problem.
    WinnerRow shipped = database.winners()[0];
    shipped.origin = "shipped";
    CHECK(with_shipped(database.winners(), {shipped}).size() == 2);

    TuningRecord decision{.kind = TuningRecord::Kind::selection,
                          .environment = environment_of("NVIDIA H200"),
                          .problem = problem,
                          .config = tiled_config(16),
                          .time = 1'000'000'000,
                          .origin = "shipped"};
    for (const char* origin : {"shipped", "user"}) {
        decision.origin = origin;
        database.insert({decision});
        database.decide(problem, {}, raced);
        REQUIRE(database.winners().size() == 1);
        CHECK(database.winners()[0].origin == origin);
    }
}

TEST_CASE("a decision keeps its run-off: the winner, the default and the runner-up, here, in the view and in a merged file") {
    const TemporaryDirectory directory;
    const auto problem = problem_of("64 64 64"), alone = problem_of("8 8 8");
    {
        auto first = open(directory / "first.db");
        first.decide(problem, {},
                     {.config = tiled_config(32), .median_us = 10, .default_us = 15, .runner_up = tiled_config(16), .runner_up_us = 10.5});
        first.decide(alone, {}, {.config = tiled_config(8), .median_us = 3});
    }
    auto database = open(directory / "tmm.db");
    CHECK(database.merge(directory / "first.db").selections == 2);
    CHECK(database.merge(directory / "first.db").selections == 0);
    const auto decision = database.decision(problem);
    REQUIRE(decision);
    CHECK(decision->default_us == 15);
    CHECK(decision->runner_up == tiled_config(16));
    CHECK(decision->runner_up_us == 10.5);
    CHECK_FALSE(decision->predicted);
    REQUIRE(database.decision(alone));
    CHECK(database.decision(alone)->default_us == 0);
    CHECK_FALSE(database.decision(alone)->runner_up);
    CHECK(database.verify().empty());
    SQLite::Database raw(directory / "tmm.db");
    SQLite::Statement view(raw, "SELECT vs_default, runner_up, runner_up_us FROM winner WHERE m = 64");
    REQUIRE(view.executeStep());
    CHECK(view.getColumn(0).getDouble() == 1.5);
    CHECK(view.getColumn(1).getString() == to_text(tiled_config(16)));
    CHECK(view.getColumn(2).getDouble() == 10.5);
    CHECK(raw.execAndGet("SELECT vs_default IS NULL AND runner_up IS NULL FROM winner WHERE m = 8").getInt() == 1);
}

TEST_CASE("what was only predicted takes no measured winner's place, whoever measured it and whenever") {
    const TemporaryDirectory directory;
    TuningRecord guess{.kind = TuningRecord::Kind::selection,
                       .environment = environment_of("NVIDIA H200"),
                       .problem = problem_of("64 64 64"),
                       .config = tiled_config(32),
                       .time = 2'000'000'000,
                       .predicted = true};
    TuningRecord measured_one = guess;
    measured_one.config = tiled_config(16);
    measured_one.time = 1'000'000'000;
    measured_one.predicted = false;
    measured_one.measurement.median_us = 7;
    for (const char* origin : {"user", "shipped"}) {
        CAPTURE(origin);
        measured_one.origin = origin;
        auto database = open(directory / (std::string(origin) + ".db"));
        database.insert({guess});
        REQUIRE(database.winners().size() == 1);
        CHECK(database.winners()[0].predicted);
        CHECK(with_shipped(database.winners()).size() == shipped_winners().size());
        database.insert({measured_one});
        database.insert({guess});
        REQUIRE(database.winners().size() == 1);
        CHECK_FALSE(database.winners()[0].predicted);
        CHECK(database.winners()[0].origin == origin);
        CHECK(database.decision(guess.problem)->config == tiled_config(16));
        const auto newest = newest_decisions(database.records());
        REQUIRE(newest.size() == 1);
        CHECK_FALSE(newest[0].predicted);
    }
    CHECK(shipped_winners_among({guess}).empty());
}

TEST_CASE("shipped winners are the last decisions of an export, with the error that was measured") {
    TuningRecord measurement{.environment = environment_of("NVIDIA H200"),
                             .problem = problem_of("64 64 64"),
                             .config = tiled_config(32),
                             .time = 1,
                             .measurement = measured(7)};
    TuningRecord old{.kind = TuningRecord::Kind::selection,
                     .environment = measurement.environment,
                     .problem = measurement.problem,
                     .config = tiled_config(16),
                     .time = 10};
    TuningRecord current = old, warm = old, elsewhere = old;
    current.config = tiled_config(32);
    current.time = 20;
    warm.policy.cold_l2 = false;
    warm.time = 30;
    elsewhere.environment = environment_of("NVIDIA L4", 89, 58);
    const auto winners = shipped_winners_among({measurement, old, current, warm, elsewhere});
    REQUIRE(winners.size() == 2);
    CHECK(winners[0].config == tiled_config(32));
    CHECK(winners[0].error_ratio == 0.125);
    CHECK(winners[0].origin == "shipped");
    CHECK(winners[1].device == "NVIDIA L4");
    CHECK(winners[1].compute_capability == 89);
    CHECK(winners[1].error_ratio == -1);
}

TEST_CASE("rows with values out of range are left out, and verify() names them") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    auto database = open(file);
    const auto good = problem_of("64 64 64"), bad = problem_of("65 65 65");
    for (const auto& problem : {good, bad}) {
        database.record(problem, tiled_config(problem == good ? 16 : 32), {}, measured(10));
        database.decide(problem, {}, {.config = tiled_config(problem == good ? 16 : 32), .median_us = 10});
    }
    CHECK(database.verify().empty());
    std::vector<std::string> log;
    set_log_sink([&](const std::string& line) { log.push_back(line); });
    const char* plants[] = {
        "UPDATE config SET fields = json_set(fields, '$.family', 77) WHERE id = 2",
        "UPDATE config SET fields = json_set(fields, '$.block_k', -3) WHERE id = 2",
        "UPDATE config SET fields = json_set(fields, '$.boundary', 'open') WHERE id = 2",
        "UPDATE config SET fields = json_set(fields, '$.split_k', 4611686018427387904) WHERE id = 2",
        "UPDATE problem SET fields = json_set(fields, '$.lda', 3) WHERE id = 2",
        "UPDATE problem SET fields = json_insert(fields, '$.type_a', 1000) WHERE id = 2",
        "UPDATE problem SET fields = json_set(fields, '$.m', -1) WHERE id = 2",
        "UPDATE problem SET fields = json_insert(fields, '$.alignment', 24) WHERE id = 2",
        "UPDATE selection SET reason = char(27) || '[2J' WHERE config_id = 2",
    };
    for (const char* plant : plants) {
        CAPTURE(plant);
        const auto copy = directory / "copy.db";
        std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
        {
            SQLite::Database raw(copy, SQLite::OPEN_READWRITE);
            raw.exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
            raw.exec(plant);
        }
        auto damaged = open(copy);
        log.clear();
        const auto winners = damaged.winners();
        REQUIRE(winners.size() == 1);
        CHECK(winners[0].problem == good);
        CHECK(log.size() == 1);
        CHECK_FALSE(damaged.verify().empty());
        CHECK(damaged.measurements(good).size() == 1);
    }
    set_log_sink({});
}

TEST_CASE("merging takes over what is new, and nothing twice") {
    const TemporaryDirectory directory;
    auto a = open(directory / "a.db");
    const auto problem = problem_of("64 64 64");
    a.record(problem, tiled_config(16), {}, measured(10));
    a.decide(problem, {}, {.config = tiled_config(16), .median_us = 10});
    {
        auto b = open(directory / "b.db", "NVIDIA L4");
        b.record(problem, tiled_config(16), {}, measured(30));
        b.record(problem, tiled_config(32), {.graph = false}, measured(40));
        b.decide(problem, {}, {.config = tiled_config(16), .median_us = 30});
        b.announce(problem, tiled_config(8), "tmm_tiled");
    }
    CHECK(a.merge(directory / "b.db").measurements == 2);
    CHECK(a.merge(directory / "b.db").measurements == 0);
    CHECK(a.merge(directory / "a.db").measurements == 0);
    CHECK(a.winners().size() == 2);
    CHECK(a.records().size() == 5);
    CHECK(open(directory / "a.db", "NVIDIA L4").unfinished_runs().empty());
    CHECK(a.verify().empty());
    CHECK_THROWS_AS(a.merge(directory / "missing.db"), Error);
}

TEST_CASE("processes that write at once lose nothing") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    constexpr int kWriters = 3, kRows = 25;
    pid_t children[kWriters];
    for (int writer = 0; writer < kWriters; ++writer) {
        children[writer] = fork();
        if (children[writer] != 0) continue;
        try {
            // All of them make the file, too.
            auto database = open(file);
            const auto problem = problem_of("64 64 " + std::to_string(64 + writer));
            for (int row = 0; row < kRows; ++row) {
                const auto config = tiled_config(1 + row);
                database.announce(problem, config, "tmm_tiled");
                database.record(problem, config, {}, measured(10 + row));
            }
        } catch (const std::exception& error) {
            std::fprintf(stderr, "writer %d: %s\n", writer, error.what());
            _exit(1);
        }
        _exit(0);
    }
    for (const pid_t child : children) {
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    auto database = open(file);
    CHECK(database.records().size() == kWriters * kRows);
    CHECK(database.unfinished_runs().empty());
    CHECK(database.verify().empty());
}

TEST_CASE("a decision by times with another kernel between goes before one by times back to back, which counts where there is no other") {
    const TemporaryDirectory directory;
    TuningDatabase database = open(directory / "tmm.db");
    const GemmProblem problem = problem_of("64 32 16");
    const MeasurementPolicy back_to_back{.other_kernel = false};
    database.decide(problem, back_to_back, {.config = tiled_config(4), .median_us = 1});
    database.record(problem, tiled_config(4), back_to_back, measured(1));
    REQUIRE(database.decision(problem));
    CHECK(database.decision(problem)->config == tiled_config(4));
    CHECK(database.decision(problem)->back_to_back);
    CHECK(database.measurements(problem).empty());
    CHECK(database.deciding_measurements(problem).size() == 1);
    REQUIRE(database.winners().size() == 1);

    database.decide(problem, {}, {.config = tiled_config(8), .median_us = 3});
    database.record(problem, tiled_config(8), {}, measured(3));
    // What a merge brings later is older all the same.
    database.decide(problem, back_to_back, {.config = tiled_config(16), .median_us = 0.5});
    CHECK(database.decision(problem)->config == tiled_config(8));
    CHECK_FALSE(database.decision(problem)->back_to_back);
    REQUIRE(database.winners().size() == 1);
    CHECK(database.winners().front().config == tiled_config(8));
    REQUIRE(database.deciding_measurements(problem).size() == 1);
    CHECK(database.deciding_measurements(problem).front().config == tiled_config(8));
}
