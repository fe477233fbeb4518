// Whatever is done to a database file: a multiplication gives the right elements, the tools end with a status that they document, and
// nothing that is not tmm's is touched. TMM_TEST_FULL=1 runs 10,000 cases; TMM_TEST_FIRST and TMM_TEST_COUNT a part of them.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "db/store/records.h"
#include "tests/support/api_testing.h"
#include "tests/support/children.h"
#include "tests/support/damaged_databases.h"
#include "tests/support/database_fixture.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/slice.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kCases = 10'000;
constexpr std::size_t kSlices = 100;
// A case takes a fraction of a second, and a few where the file has no end.
constexpr int kHungSeconds = 300;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Each file's kind and content, but for the database's and its companions'.
std::map<std::string, std::string> other_files(const fs::path& directory) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
        const std::string name = entry.path().lexically_relative(directory).string();
        const auto status = entry.symlink_status();
        std::string content = fmt::format("kind {} ", static_cast<int>(status.type()));
        if (fs::is_symlink(status))
            content += fs::read_symlink(entry.path()).string();
        else if (fs::is_regular_file(status) && !name.starts_with("t.db"))
            content += read_file(entry.path());
        const std::set<std::string> own = {"t.db", "t.db-journal", "t.db-wal", "t.db-shm"};
        if (!fs::is_regular_file(status) || !own.contains(name)) files[name] = content;
    }
    return files;
}

struct Sizes {
    int m, n, k;
};

Sizes sizes_of(const std::string& shape) {
    const GemmProblem problem = problem_of(shape);
    return {static_cast<int>(problem.m), static_cast<int>(problem.n), static_cast<int>(problem.k)};
}

// Multiplies small integers, whose products have one right result. The text is empty where that came out.
std::string multiply(tmmHandle_t handle, const std::string& shape) {
    const auto [m, n, k] = sizes_of(shape);
    std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n)), c(static_cast<std::size_t>(m * n), -77.0F);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(static_cast<int>(i * 7 % 9) - 4);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(static_cast<int>(i * 5 % 7) - 3);
    const float one = 1, zero = 0;
    const tmmStatus_t status =
        tmmHostSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, m, n, k, &one, a.data(), k, b.data(), n, &zero, c.data(), n);
    if (status != TMM_STATUS_SUCCESS) return fmt::format("{}: {}: {}", shape, tmmStatusString(status), tmmLastError(handle));
    int wrong = 0;
    for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
            float sum = 0;
            for (int i = 0; i < k; ++i) sum += a[static_cast<std::size_t>(row * k + i)] * b[static_cast<std::size_t>(i * n + column)];
            wrong += c[static_cast<std::size_t>(row * n + column)] != sum;
        }
    return wrong == 0 ? "" : fmt::format("{}: {} of {} elements are wrong", shape, wrong, m * n);
}

std::string described_plan(tmmHandle_t handle, const std::string& shape) {
    const auto [m, n, k] = sizes_of(shape);
    tmmGemmProblem_t problem;
    tmmGemmProblemInit(&problem);
    problem.m = m, problem.n = n, problem.k = k, problem.lda = k, problem.ldb = n, problem.ldc = n;
    tmmPlan_t plan = nullptr;
    if (tmmPlanCreate(handle, &problem, &plan) != TMM_STATUS_SUCCESS) return "no plan";
    char text[1000] = {};
    tmmPlanDescribe(plan, text, sizeof text);
    tmmPlanDestroy(plan);
    return text;
}

struct LibraryUse {
    // Seconds that opening took.
    double seconds = 0;
    // Number of multiplications that the database had a winner for.
    int exact = 0;
};

LibraryUse use_library(const fs::path& file, std::size_t number, const CaseReport& report) {
    LibraryUse use;
    tmmHandle_t handle = nullptr;
    const auto start = Clock::now();
    const tmmStatus_t status = tmmCreate(&handle, TMM_DEVICE_HOST, file.c_str());
    use.seconds = seconds_since(start);
    if (status != TMM_STATUS_SUCCESS) {
        report.fail(number, fmt::format("tmmCreate: {}: {}", tmmStatusString(status), tmmLastError(nullptr)));
        return use;
    }
    for (const std::string& shape : DamagedDatabases::shapes()) {
        const std::string fault = multiply(handle, shape), plan = described_plan(handle, shape);
        if (!fault.empty()) report.fail(number, fault + "; " + plan);
        use.exact += plan.find("match: exact") != std::string::npos;
    }
    tmmDestroy(handle);
    return use;
}

// Does what the tools do, in this process. Only an error of the database may come of it.
void use_database(const fs::path& file) {
    const auto attempt = [](auto&& action) {
        try {
            action();
        } catch (const Error& error) {
            if (error.status() != ExitStatus::database) throw;
            if (error.remedy().empty()) throw std::runtime_error(std::string("no remedy: ") + error.what());
        }
    };
    attempt([&] {
        TuningDatabase database(file, TuningDatabase::Mode::read_write);
        database.set_environment({.device = host_device_info()});
        attempt([&] { (void)database.verify(); });
        attempt([&] { (void)database.winners(); });
        attempt([&] { (void)database.records(); });
        attempt([&] { (void)database.unfinished_runs(); });
        for (const std::string& shape : DamagedDatabases::shapes()) {
            attempt([&] { (void)database.decision(problem_of(shape)); });
            attempt([&] { (void)database.measurements(problem_of(shape)); });
        }
        const auto problem = problem_of("8 8 9");
        attempt([&] { database.announce(problem, tiled_config(4), "tmm_tiled"); });
        attempt([&] { database.record(problem, tiled_config(4), {}, measured(3)); });
        attempt([&] { database.decide(problem, {}, {.config = tiled_config(4), .median_us = 3}); });
    });
}

// The sampled cases are the same in each run, spread over all slices.
bool is_sampled(std::size_t number, std::size_t one_in) {
    return (number * 2654435761U >> 8) % one_in == 0;
}

// Returns the seconds that the longest of tmm-db's runs took.
double use_tools(const fs::path& file, const fs::path& shapes, std::size_t number, const CaseReport& report) {
    double longest = 0;
    const auto check = [&](const std::string& tool, const std::string& arguments, const std::set<int>& documented) {
        const auto start = Clock::now();
        const auto result = run_command(fmt::format("'{}/{}' {} --db '{}'", TMM_BINARY_DIR, tool, arguments, file.string()));
        longest = std::max(longest, seconds_since(start));
        if (!documented.contains(result.status))
            report.fail(number, fmt::format("{} {}: status {}: {}", tool, arguments, result.status, result.err));
        if (result.status != 0 && result.err.empty()) report.fail(number, fmt::format("{} {}: no word of why", tool, arguments));
    };
    check("tools/tmm-db", "ls", {0, 5});
    check("tools/tmm-db", "show 16x16x16", {0, 5, 6});
    check("tools/tmm-db", "candidates 17x5x9 --json", {0, 5, 6});
    // 2: damaged rows are left out, and it says which.
    check("tools/tmm-db", "export --csv", {0, 2, 5});
    check("tools/tmm-db", "verify", {0, 5});
    const double of_looking = longest;
    if (is_sampled(number, 128))
        check("tools/tmm-tune", "--gpu host --effort quick --budget 2 --shapes '" + shapes.string() + "'", {0, 5, 6});
    return of_looking;
}

void run_case(const DamagedDatabases& databases, std::size_t number, const CaseReport& report) {
    const TemporaryDirectory directory;
    const std::string done = databases.make(number, directory / "");
    write_file(directory / "shapes.txt", "4 4 4\n16 16 16\n");
    const auto before = other_files(directory / "");
    const fs::path file = directory / "t.db";
    const LibraryUse library = use_library(file, number, report);
    if (other_files(directory / "") != before) report.fail(number, "the library touched another file");
    const auto start = Clock::now();
    use_database(file);
    const double in_process = seconds_since(start);
    const double tools = is_sampled(number, 8) ? use_tools(file, directory / "shapes.txt", number, report) : 0;
    if (other_files(directory / "") != before) report.fail(number, "the tools touched another file");
    report.note(number, fmt::format("{:.3f} {:.3f} {:.3f} {} {}: {}", library.seconds, in_process, tools, library.exact, number, done));
}

struct Note {
    double seconds[3] = {};
    int exact = 0;
    int begin_of_words = 0;
};

Note parsed(const std::string& note) {
    Note values;
    double* const seconds = values.seconds;
    const int read =
        std::sscanf(note.c_str(), "%lf %lf %lf %d %n", &seconds[0], &seconds[1], &seconds[2], &values.exact, &values.begin_of_words);
    if (read != 4) throw std::invalid_argument(note);
    return values;
}

// The longest of the notes by its column, with what the case was.
std::string longest(const std::vector<std::string>& notes, int column) {
    double most = -1;
    std::string which;
    for (const std::string& note : notes) {
        const Note values = parsed(note);
        if (values.seconds[column] <= most) continue;
        most = values.seconds[column];
        which = note.substr(static_cast<std::size_t>(values.begin_of_words), 200);
    }
    return fmt::format("{:.2f} s ({})", most, which);
}

}  // namespace

TEST_CASE("damaged databases: right elements, documented statuses, and nothing of others touched") {
    setenv("TMM_CACHE_DIR", TMM_BINARY_DIR "/test_cache", 0);
    const std::uint64_t seed = test_seed();
    const auto first = static_cast<std::size_t>(test_setting("FIRST", 0));
    const auto count = static_cast<std::size_t>(test_setting("COUNT", kCases));
    std::vector<std::size_t> numbers;
    for (std::size_t number = first; number < first + count; ++number)
        if (count != kCases || in_slice(number, kSlices)) numbers.push_back(number);
    set_log_sink([](const std::string&) {});
    const DamagedDatabases databases(seed);
    const CasesRun run =
        run_in_children(numbers, kHungSeconds, [&](std::size_t number, const CaseReport& report) { run_case(databases, number, report); });
    set_log_sink({});
    std::size_t exact = 0;
    for (const std::string& note : run.notes) exact += static_cast<std::size_t>(parsed(note).exact);
    fmt::print("{} damaged databases, seed {}: {} failures; {} of {} multiplications by a winner of theirs\n", run.ended, seed,
               run.failures.size(), exact, run.ended * DamagedDatabases::shapes().size());
    fmt::print("  longest opening in the library: {}\n  in a tool's process: {}\n  a tool: {}\n", longest(run.notes, 0),
               longest(run.notes, 1), longest(run.notes, 2));
    for (const CaseFailure& failure : run.failures) {
        const TemporaryDirectory directory;
        MESSAGE(fmt::format("TMM_TEST_SEED={} TMM_TEST_FIRST={} TMM_TEST_COUNT=1: {} [{}]", seed, failure.number, failure.reason,
                            databases.make(failure.number, directory / "")));
    }
    CHECK(run.failures.empty());
    CHECK((exact > 0 || numbers.size() < 20));
    CHECK(run.ended + run.failures.size() >= numbers.size());
}
