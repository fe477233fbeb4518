// Tests what the runtime makes of a tuning database: its winner runs, within the bound on workspace; a database that is missing, damaged,
// foreign, newer or locked costs one log line and no multiplication.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/text.h"
#include "tests/support/api_testing.h"
#include "tests/support/selection_testing.h"

using namespace api_testing;
using namespace selection_testing;

namespace {

void store_candidate(const std::string& file, const std::string& problem, const std::string& config, double median_us,
                     tmm::Outcome outcome = tmm::Outcome::ok, const std::string& kernel_hash = "0123456789abcdef") {
    tmm::TuningDatabase database(file, tmm::TuningDatabase::Mode::read_write_create);
    database.set_environment(tmm::Environment{.device = tmm::host_device_info()});
    tmm::Measurement measurement;
    measurement.outcome = outcome;
    measurement.median_us = measurement.low_us = measurement.high_us = median_us;
    measurement.samples = 3;
    measurement.error_ratio = 0.1;
    measurement.kernel_name = "tmm_test";
    measurement.kernel_hash = kernel_hash;
    database.announce(shape(problem), tmm::parse_config(config), measurement.kernel_name);
    database.record(shape(problem), tmm::parse_config(config), {}, measurement);
}

void store_winner(const std::string& file, const std::string& problem, const std::string& config) {
    store_candidate(file, problem, config, 12.5);
    tmm::TuningDatabase database(file, tmm::TuningDatabase::Mode::read_write_create);
    database.set_environment(tmm::Environment{.device = tmm::host_device_info()});
    database.decide(shape(problem), {}, {.config = tmm::parse_config(config), .median_us = 12.5, .candidates = 1, .reason = "only one"});
}

std::string describe(const Fixture& on, const Product& p, std::size_t max_workspace = SIZE_MAX) {
    tmmGemmProblem_t problem = problem_of(p);
    problem.max_workspace = max_workspace;
    tmmPlan_t plan = nullptr;
    REQUIRE_MESSAGE(tmmPlanCreate(on.handle, &problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
    char text[4096];
    REQUIRE(tmmPlanDescribe(plan, text, sizeof text) == TMM_STATUS_SUCCESS);
    tmmPlanDestroy(plan);
    return text;
}

}  // namespace

TEST_CASE("the runtime launches the database's winner and says so") {
    const Scratch scratch;
    const std::string file = scratch.file("tmm.db");
    store_winner(file, "48 48 48", kTiled16);
    const Fixture on(TMM_DEVICE_HOST, file);
    const Product exact{.m = 48, .n = 48, .k = 48};
    const std::string told = describe(on, exact);
    CHECK(contains(told, std::string("config: ") + kTiled16 + "\nmatch: exact\nwhy: 48x48x48 was tuned on host"));
    CHECK(contains(told, "\npredicted: "));
    CHECK(contains(told, " µs = arithmetic "));
    CHECK(contains(told, "\nmeasured: 12.5 µs"));
    const Product near{.m = 48, .n = 48, .k = 40};
    CHECK(contains(describe(on, near), "match: near"));
    // What the neighbour took says nothing of this problem.
    CHECK(contains(describe(on, near), "\npredicted: "));
    CHECK_FALSE(contains(describe(on, near), "measured: "));
    const std::vector<float> a = normal_values(exact.size_a(), 1), b = normal_values(exact.size_b(), 2);
    CHECK(run_and_compare(on, exact, a, b, std::vector<float>(exact.size_c(), NAN)) == "");
    // Column-major problems are looked up as the row-major ones they are.
    const Product column{.layout = TMM_COL_MAJOR, .m = 48, .n = 48, .k = 48};
    CHECK(contains(describe(on, column), "match: exact"));
}

TEST_CASE("a winner that splits K and moves vectors: own, shared and brought workspace, and misaligned pointers") {
    const Scratch scratch;
    const std::string file = scratch.file("tmm.db");
    store_winner(file, "40 36 200", kSplit3);
    const Fixture on(TMM_DEVICE_HOST, file);
    const Product p{.m = 40, .n = 36, .k = 200};
    const std::vector<float> a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2), before(p.size_c(), NAN);
    const std::string said = describe(on, p);
    CHECK(contains(said, std::string("config: ") + kSplit3 + "\nmatch: exact"));
    CHECK(contains(said, "\nmisaligned pointers: "));

    tmmGemmProblem_t problem = problem_of(p);
    tmmPlan_t plan = nullptr;
    REQUIRE(tmmPlanCreate(on.handle, &problem, &plan) == TMM_STATUS_SUCCESS);
    std::size_t bytes = 0;
    REQUIRE(tmmPlanWorkspaceSize(plan, &bytes) == TMM_STATUS_SUCCESS);
    REQUIRE(bytes >= 3 * 40 * 36 * sizeof(float));
    const tmm::DeviceBuffer workspace(on.device, bytes);
    std::vector<float> bits;
    for (const bool brought : {false, true}) {
        for (const std::size_t offset : {0, 1}) {
            const OnDevice da(on, a, offset), db(on, b, offset), dc(on, before, offset);
            tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
            if (brought) {
                args.workspace = workspace.data();
                args.workspace_size = bytes;
            }
            REQUIRE_MESSAGE(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
            CHECK(difference(p, a, b, before, dc.read()) == "");
            if (offset == 0 && !brought) bits = dc.read();
            if (offset == 0) CHECK(same_bits(dc.read(), bits));
            args.workspace = workspace.data();
            args.workspace_size = bytes - 1;
            CHECK(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_WORKSPACE_TOO_SMALL);
        }
    }
    tmmPlanDestroy(plan);

    // Calls of several threads each have a workspace to themselves.
    std::vector<std::string> faults(4);
    std::vector<std::thread> threads;
    for (std::string& fault : faults) {
        threads.emplace_back([&] {
            for (int round = 0; round < 5; ++round) {
                std::vector<float> c = before;
                if (sgemm(on.handle, p, a.data(), b.data(), c.data()) != TMM_STATUS_SUCCESS) fault = tmmLastError(on.handle);
                if (!same_bits(c, bits)) fault = "other bits";
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& fault : faults) CHECK(fault == "");
}

TEST_CASE("a plan held to less workspace than the winner needs: the database's fastest candidate within the bound") {
    const Scratch scratch;
    const std::string file = scratch.file("tmm.db");
    store_winner(file, "40 36 200", kSplit3);
    store_candidate(file, "40 36 200", kTiled16, 40);
    // The fastest that needs no workspace, but its kernel was found wrong since: the newest measurement counts.
    const std::string wrong = "tiled 4x4x4";
    store_candidate(file, "40 36 200", wrong, 14, tmm::Outcome::ok, "aa");
    store_candidate(file, "40 36 200", wrong, 13, tmm::Outcome::wrong_result, "bb");
    store_candidate(file, "40 36 200", kTiled8, 30);
    // This candidate belongs to another problem.
    store_candidate(file, "40 36 208", "naive 8x32x1", 1);
    const Fixture on(TMM_DEVICE_HOST, file);
    const Product p{.m = 40, .n = 36, .k = 200};
    CHECK(contains(describe(on, p), std::string("config: ") + kSplit3));
    const std::string said = describe(on, p, 1000);
    CHECK(contains(said, std::string("config: ") + kTiled8 + "\nmatch: exact\nwhy: 40x36x200 was tuned on host, but its winner ("));
    CHECK(contains(said, "more than the 1000 allowed, and this config is the fastest measured one within them (30.00 µs when tuned)"));

    const std::vector<float> a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2), before(p.size_c(), NAN);
    tmmGemmProblem_t problem = problem_of(p);
    problem.max_workspace = 0;
    tmmPlan_t plan = nullptr;
    REQUIRE(tmmPlanCreate(on.handle, &problem, &plan) == TMM_STATUS_SUCCESS);
    std::size_t bytes = 1;
    CHECK(tmmPlanWorkspaceSize(plan, &bytes) == TMM_STATUS_SUCCESS);
    CHECK(bytes == 0);
    for (const std::size_t offset : {0, 1}) {
        const OnDevice da(on, a, offset), db(on, b, offset), dc(on, before, offset);
        const tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
        REQUIRE_MESSAGE(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
        CHECK(difference(p, a, b, before, dc.read()) == "");
    }
    tmmPlanDestroy(plan);

    // tmmGemm keeps a plan for each bound: a workspace of no bytes is enough for one of them.
    const tmm::DeviceBuffer workspace(on.device, 256);
    const OnDevice da(on, a), db(on, b), dc(on, before);
    tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
    args.workspace = workspace.data();
    for (int round = 0; round < 2; ++round) {
        problem.max_workspace = SIZE_MAX;
        CHECK(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_WORKSPACE_TOO_SMALL);
        problem.max_workspace = 0;
        CHECK(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS);
    }
    CHECK(difference(p, a, b, before, dc.read()) == "");
}

TEST_CASE("a database that went away since costs a log line, and the plan keeps its bound without it") {
    const Scratch scratch;
    const std::string file = scratch.file("tmm.db");
    store_winner(file, "40 36 200", kSplit3);
    const Fixture on(TMM_DEVICE_HOST, file);
    // The winners are read when a problem first needs them.
    CHECK(contains(describe(on, Product{.m = 40, .n = 36, .k = 200}, SIZE_MAX), "match: exact"));
    std::filesystem::remove(file);
    const LogCapture log;
    const std::string said = describe(on, Product{.m = 40, .n = 36, .k = 200}, 0);
    CHECK(contains(said, "match: predicted"));
    CHECK(contains(said, "more than the 0 allowed"));
    REQUIRE(log.lines.size() == 1);
    CHECK(contains(log.lines[0], "a kernel for 40x36x200 is chosen without its measured candidates: "));
}

TEST_CASE("a database that can't be used costs one log line and no multiplication") {
    const Scratch scratch;
    struct Bad {
        std::string name;
        std::string file;
    };
    const std::string damaged = scratch.file("damaged.db");
    store_winner(damaged, "48 48 48", kTiled16);
    {
        std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(100);
        file << std::string(40000, 'x');
    }
    const std::string text = scratch.file("text.db");
    std::ofstream(text) << "this is no database, but long enough to look at: " << std::string(2000, '.');
    const std::string empty = scratch.file("empty.db");
    std::ofstream(empty) << "";
    const std::string foreign = scratch.file("foreign.db");
    const std::string newer = scratch.file("newer.db");
    store_winner(newer, "48 48 48", kTiled16);
    const auto execute = [](const std::string& file, const char* sql) {
        sqlite3* database = nullptr;
        REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
        CHECK(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
        sqlite3_close(database);
    };
    execute(foreign, "CREATE TABLE bookmarks(url TEXT)");
    execute(newer, "PRAGMA user_version = 999");
    std::filesystem::create_directory(scratch.file("directory.db"));
    const Bad bads[] = {{"missing", scratch.file("none.db")},
                        {"damaged", damaged},
                        {"text", text},
                        {"empty", empty},
                        {"foreign", foreign},
                        {"newer", newer},
                        {"a directory", scratch.file("directory.db")}};
    const Product p{.m = 48, .n = 48, .k = 48};
    const std::vector<float> a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2);
    for (const Bad& bad : bads) {
        CAPTURE(bad.name);
        LogCapture log;
        setenv("TMM_CACHE_DIR", TMM_BINARY_DIR "/test_cache", 0);
        tmmHandle_t handle = nullptr;
        REQUIRE_MESSAGE(tmmCreate(&handle, TMM_DEVICE_HOST, bad.file.c_str()) == TMM_STATUS_SUCCESS, tmmLastError(nullptr));
        std::vector<float> c(p.size_c(), NAN);
        CHECK(sgemm(handle, p, a.data(), b.data(), c.data()) == TMM_STATUS_SUCCESS);
        CHECK(difference(p, a, b, std::vector<float>(p.size_c(), NAN), c) == "");
        CHECK(sgemm(handle, p, a.data(), b.data(), c.data()) == TMM_STATUS_SUCCESS);
        CHECK(tmmDestroy(handle) == TMM_STATUS_SUCCESS);
        REQUIRE(log.lines.size() == 1);
        CHECK(contains(log.lines[0], bad.file));
    }
}

TEST_CASE("a locked database costs one log line and no multiplication") {
    const Scratch scratch;
    const std::string file = scratch.file("tmm.db");
    store_winner(file, "48 48 48", kTiled16);
    sqlite3* holder = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &holder) == SQLITE_OK);
    REQUIRE(sqlite3_exec(holder, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) == SQLITE_OK);
    LogCapture log;
    tmmHandle_t handle = nullptr;
    REQUIRE(tmmCreate(&handle, TMM_DEVICE_HOST, file.c_str()) == TMM_STATUS_SUCCESS);
    const Product p{.m = 5, .n = 5, .k = 5};
    const std::vector<float> a(25, 1.0f), b(25, 2.0f);
    std::vector<float> c(25, NAN);
    CHECK(sgemm(handle, p, a.data(), b.data(), c.data()) == TMM_STATUS_SUCCESS);
    CHECK(c == std::vector<float>(25, 10.0f));
    tmmDestroy(handle);
    sqlite3_close(holder);
    REQUIRE(log.lines.size() == 1);
    CHECK(contains(log.lines[0], "locked"));
}

TEST_CASE("a winner whose kernel does not compile is logged once, and the fallback multiplies") {
    const Scratch scratch;
    const std::string file = scratch.file("tmm.db");
    store_winner(file, "48 48 48", kTiled16);
    // The templates of tiled, broken; the others are the real ones.
    const std::string templates = scratch.file("templates");
    std::filesystem::copy(TMM_SOURCE_DIR "/templates", templates, std::filesystem::copy_options::recursive);
    std::ofstream(templates + "/tmm/families/tiled/kernel.cuh", std::ios::app) << "\n#error broken on purpose\n";
    // Templates are read once a process, so another one looks.
    const std::string command = "TMM_TEMPLATES='" + templates + "' TMM_TEST_DATABASE='" + file + "' '" +
                                std::filesystem::read_symlink("/proc/self/exe").string() +
                                "' --no-skip --test-case='helper: multiplies with broken templates' >'" + scratch.file("out") + "' 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream out(scratch.file("out"));
    const std::string said{std::istreambuf_iterator<char>(out), {}};
    CHECK_MESSAGE(status == 0, said);
}

TEST_CASE("helper: multiplies with broken templates" * doctest::skip()) {
    const char* file = std::getenv("TMM_TEST_DATABASE");
    REQUIRE(file);
    const Fixture on(TMM_DEVICE_HOST, file);
    LogCapture log;
    const Product p{.m = 48, .n = 48, .k = 48};
    const std::vector<float> a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2);
    for (int call = 0; call < 3; ++call) CHECK(run_and_compare(on, p, a, b, std::vector<float>(p.size_c(), NAN)) == "");
    REQUIRE(log.lines.size() == 1);
    CHECK(contains(log.lines[0], "does not compile"));
    CHECK(contains(log.lines[0], kTiled16));
    const std::string said = describe(on, p);
    CHECK(contains(said, "match: fallback"));
    CHECK(contains(said, "does not compile"));
}
