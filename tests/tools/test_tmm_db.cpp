// The tool tmm-db as a user meets it: what it prints, where, and its exit statuses.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "db/store/record_text.h"
#include "generator/text/text.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

// Runs the tool with the database of the directory, and no other environment that it might read.
CommandResult tool(const TemporaryDirectory& directory, const std::string& arguments) {
    return run_command(
        fmt::format("env -u DISPLAY TMM_DB='{}' '{}/tools/tmm-db' {}", (directory / "tmm.db").string(), TMM_BINARY_DIR, arguments));
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

#define CHECK_CONTAINS(text, part) CHECK_MESSAGE(contains(text, part), text)

TuningDatabase open(const std::filesystem::path& file, const std::string& device = "NVIDIA H200") {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of(device));
    return database;
}

void fill(const std::filesystem::path& file, double us = 110) {
    auto database = open(file);
    const auto problem = problem_of("1024 1024 1024 ops=nt"), small = problem_of("16 4096 4096");
    auto second = measured(us * 1.1);
    database.record(problem, tiled_config(16), {}, second);
    database.record(problem, tiled_config(32), {}, measured(us));
    database.record(problem, tiled_config(8), {}, {.outcome = Outcome::timed_out, .detail = "ran longer than 3 s, \"killed\""});
    database.decide(problem, {},
                    {.config = tiled_config(32),
                     .median_us = us,
                     .candidates = 3,
                     .reason = "run-off: 10% faster than the next",
                     .default_us = us * 2,
                     .runner_up = tiled_config(16),
                     .runner_up_us = us * 1.1});
    auto other = open(file, "host");
    other.decide(small, {}, {.config = tiled_config(4), .median_us = 50000, .candidates = 1, .reason = "the only one"});
}

}  // namespace

TEST_CASE("ls lists every winner, --gpu one device's") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    auto result = tool(directory, "ls");
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    CHECK_CONTAINS(result.out, "1024x1024x1024 ops=nt");
    CHECK_CONTAINS(result.out, "NVIDIA H200");
    CHECK_CONTAINS(result.out, to_text(tiled_config(32)));
    CHECK_CONTAINS(result.out, "16x4096x4096");
    CHECK_FALSE(contains(result.out, "\x1b"));
    result = tool(directory, "ls --gpu h200");
    CHECK_CONTAINS(result.out, "1024x1024x1024");
    CHECK_FALSE(contains(result.out, "16x4096x4096"));
    CHECK(tool(directory, "ls --gpu L4").status == 6);
    CHECK_CONTAINS(tool(directory, "ls --gpu L4").err,
                   "nothing of a device named 'L4'; write whole words of a name; there is something of NVIDIA H");
}

TEST_CASE("show says who won, why, and against whom") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    for (const char* shape : {"1024x1024x1024 ops=nt", "1024 1024 1024 ops=nt"}) {
        const auto result = tool(directory, std::string("show ") + shape);
        CHECK(result.status == 0);
        for (const char* part :
             {"NVIDIA H200", "run-off: 10% faster", "110.0 µs", "TFLOP/s", "2.00x (the default took 220.0 µs in the same run-off)",
              "10th percentile 108.9, 90th percentile 137.5", "0.1250 of the bound", "40 registers", "3: 2 ok, 1 timed_out",
              "121.0 µs in the same run-off, 10.0% slower", "tmm_tiled_f32_nn", "driver 13.0, NVRTC 12.9"})
            CHECK_CONTAINS(result.out, part);
        CHECK_CONTAINS(result.out, to_text(tiled_config(16)));
    }
    CHECK_CONTAINS(tool(directory, "show 16x4096x4096").out, "the only one");
}

TEST_CASE("show keeps what the search did apart from why the winner won") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    const auto shown = [&](const std::string& reason) {
        SQLite::Database(directory / "tmm.db", SQLite::OPEN_READWRITE).exec("UPDATE selection SET reason = '" + reason + "'");
        return tool(directory, "show 1024x1024x1024 ops=nt").out;
    };
    const std::string whole = shown(
        "faster by 3% in 40 rounds; 28 candidates measured, 1 failed: 1 spills; the end; 670 configs rejected before: 600 x odd, 7, or "
        "prime, 70 x even, 3 for 2 rarer reasons");
    CHECK_CONTAINS(whole, "  why         faster by 3% in 40 rounds\n");
    CHECK_CONTAINS(whole, "  search      28 candidates measured, 1 failed: 1 spills; the end\n");
    CHECK_CONTAINS(whole,
                   "  left out    670 configs rejected before:\n              600 x odd, 7, or prime\n              70 x even\n"
                   "              3 for 2 rarer reasons\n");
    // Whatever else stands there is shown as it is.
    CHECK_CONTAINS(shown("; 5 candidates; configs rejected before; 7"), "  why         ; 5 candidates; configs rejected before; 7\n");
    CHECK_CONTAINS(shown("; 28 candidates measured, 0 failed"), "  why         no reason was given\n");
    CHECK_CONTAINS(shown("by far; " + std::string(100, '1')), "  why         by far; 111");
}

TEST_CASE("candidates come fastest first, failures with their reason") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    const auto result = tool(directory, "candidates 1024x1024x1024 ops=nt");
    CHECK(result.status == 0);
    const auto first = result.out.find(to_text(tiled_config(32))), second = result.out.find(to_text(tiled_config(16))),
               third = result.out.find(to_text(tiled_config(8)));
    CHECK(first < second);
    CHECK(second < third);
    CHECK(third != std::string::npos);
    CHECK_CONTAINS(result.out, "ran longer than 3 s, \"killed\"");
    CHECK_CONTAINS(result.out, "ok, winner");
}

TEST_CASE("an untuned shape is named, with the nearest tuned ones") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    for (const char* command : {"show 1001x1001x1001", "candidates 1001 1001 1001"}) {
        const auto result = tool(directory, command);
        CHECK(result.status == 6);
        CHECK_CONTAINS(result.err, "'1001x1001x1001' has not been tuned; the nearest tuned: '1000x1000x1000'");
    }
    // It ships, and nothing of it was measured here.
    const auto result = tool(directory, "candidates 1000 1000 1000");
    CHECK(result.status == 6);
    CHECK(result.out.empty());
    CHECK_CONTAINS(result.err, "'1000x1000x1000' has a winner here, but no measurements");
}

TEST_CASE("export and import round-trip to the byte, as CSV and as JSON") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    {
        auto database = open(directory / "tmm.db");
        auto odd = measured(1.0 / 3);
        odd.error_ratio = std::numeric_limits<double>::infinity();
        odd.outcome = Outcome::inaccurate;
        odd.detail = "C[3][17] = 4, expected 5; \"quoted\", µs \\ back";
        database.record(problem_of("3 5 7 dtype=bf16 ctype=f32 batch=2 lda=9"), tiled_config(8), {.cold_l2 = false, .graph = false}, odd);
        database.decide(problem_of("3 5 7 compute=f32_strict"), {}, {.config = tiled_config(4), .reason = ",,\"", .search_hash = "00ff"});
        database.decide(problem_of("9 9 9"), {}, {.config = tiled_config(4), .reason = "not measured", .predicted = true});
    }
    const auto csv = tool(directory, "export --csv"), json = tool(directory, "export --json");
    REQUIRE(csv.status == 0);
    REQUIRE(json.status == 0);
    const std::string byte_order_mark = "\xef\xbb\xbf";
    for (const auto& text : {csv.out, json.out, byte_order_mark + csv.out, byte_order_mark + json.out}) {
        const TemporaryDirectory other;
        write_file(other / "export", text);
        const auto imported = tool(other, fmt::format("import '{}'", (other / "export").string()));
        CHECK(imported.status == 0);
        CHECK_CONTAINS(imported.out, "8 of 8 records were new: 4 measurements and 4 decisions");
        CHECK(tool(other, "export --csv").out == csv.out);
        CHECK(tool(other, "export --json").out == json.out);
        CHECK(tool(other, "ls").out == tool(directory, "ls").out);
        CHECK_CONTAINS(tool(other, fmt::format("import '{}'", (other / "export").string())).out, "0 of 8 records were new");
        CHECK(tool(other, "verify").status == 0);
    }
    CHECK_FALSE(contains(tool(directory, "export --csv --gpu host").out, "H200"));
}

TEST_CASE("--winners exports the newest decision of each problem and device") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    open(directory / "tmm.db")
        .decide(problem_of("1024 1024 1024 ops=nt"), {}, {.config = tiled_config(16), .median_us = 90, .candidates = 4, .reason = "later"});
    const auto all = tool(directory, "export --csv");
    const auto winners = tool(directory, "export --csv --winners");
    REQUIRE(winners.status == 0);
    CHECK_CONTAINS(all.out, "10% faster than the next");
    CHECK_FALSE(contains(winners.out, "10% faster than the next"));
    CHECK_CONTAINS(winners.out, "later");
    CHECK_CONTAINS(winners.out, "the only one");
    CHECK(std::count(winners.out.begin(), winners.out.end(), '\n') == 3);
    CHECK(tool(directory, "ls --winners").status == 1);
    const TemporaryDirectory other;
    write_file(other / "winners", winners.out);
    REQUIRE(tool(other, fmt::format("import '{}'", (other / "winners").string())).status == 0);
    const auto candidates = tool(other, "candidates 16x4096x4096");
    CHECK(candidates.status == 6);
    CHECK_CONTAINS(candidates.err, "has a winner here, but no measurements");
}

TEST_CASE("a bad export is refused at its place, and nothing of it is stored") {
    struct Case {
        const char* text;
        const char* place;
        const char* reason;
    };
    const Case cases[] = {
        {"", "1:1", "empty"},
        {"record,device,m,n,k,speed\n", "1:21", "'speed'"},
        {"record,device,m,m,n,k\n", "1:17", "twice"},
        {"record,device,m,n,k,family\nselection,host,4,4,4,naive\nselection,host,4,x4,4,naive\n", "3:18", "n: 'x4'"},
        {"record,device,m,n,k,family\nselection,host,4,4,4,quick\n", "2:22", "one of naive, tiled"},
        {"record,device,m,n,k,family\nselection,host,4,4,-4,naive\n", "2:20", "outside"},
        {"record,device,m,n,k,family\nselection,host,4,4,99999999999999999999,naive\n", "2:20", "k: "},
        {"record,device,m,n,k,family\nselection,host,4,4\n", "2:1", "4 cells"},
        {"record,device,m,n,k,lda\nselection,host,4,4,4,3\n", "2:1", "lda=3 is shorter"},
        {"record,device,m,n,k\nmeasurement,host,4,4,4\n", "2:1", "no outcome"},
        {"record,device,m,n,k\nselection,\"host,4,4,4\n", "2:11", "never closed"},
        {"record,device,m,n,k\nselection,host,4,,4\n", "2:1", "no n"},
        {"\x7f\x45\x4c\x46\x02\x01", "1:1", "no column"},
        {"{", "1:", "end of input"},
        {"{\"tmm_export\": 1,\n \"records\": [\n  {\"record\": \"selection\", \"blok_m\": 3}]}", "3:27", "no field 'blok_m'"},
        {"{\"tmm_export\": 1,\n \"records\": [\n  {\"record\": \"selection\", \"device\": \"host\", \"m\": 1.5}]}", "3:45", "m: '1.5'"},
        {"{\"tmm_export\": 1, \"records\": [{\"record\": [1]}]}", "1:42", "no place"},
        {"{\"tmm_export\": 1, \"records\": [{}]}", "1:31", "no record"},
        {"{\"tmm_export\": 7}", "1:2", "format 7"},
        {"{\"rows\": 7}", "1:2", "'rows'"},
        {"{}", "1:1", "\"tmm_export\" is missing"},
        {"{\"tmm_export\": 1, \"records\": [\x01]}", "1:31", "syntax error"},
    };
    const TemporaryDirectory directory;
    const auto file = directory / "export";
    for (const auto& [text, place, reason] : cases) {
        CAPTURE(std::string(text));
        write_file(file, text);
        try {
            (void)read_records(file);
            FAIL("it was accepted");
        } catch (const Error& error) {
            CHECK(error.status() == ExitStatus::bad_input);
            CHECK_CONTAINS(error.where(), file.string() + ":" + place);
            CHECK_CONTAINS(std::string(error.what()), reason);
        }
    }
    write_file(file, cases[3].text);
    const auto result = tool(directory, fmt::format("import '{}'", file.string()));
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK_CONTAINS(result.err, ":3:18: n: 'x4' is no whole number");
    CHECK_FALSE(std::filesystem::exists(directory / "tmm.db"));
    CHECK(tool(directory, "import /").status == 2);
    CHECK(tool(directory, fmt::format("import '{}'", (directory / "missing").string())).status == 2);
}

TEST_CASE("a large JSON export is read in one go, and a fault far down has its place") {
    std::string text = "{\"tmm_export\": 1, \"records\": [\n";
    constexpr std::size_t kRecords = 30000;
    for (std::size_t i = 0; i < kRecords; ++i)
        text += fmt::format(
            "{{\"record\": \"selection\", \"device\": \"host\", \"m\": {}, \"n\": 4, \"k\": 4, \"family\": \"naive\", \"reason\": "
            "\"µ\"}},\n",
            i + 1);
    const std::string last = "{\"record\": \"selection\", \"device\": \"host\", \"m\": 4, \"n\": 4, \"k\": 4, \"family\": \"naive\"";
    CHECK(parse_records(text + last + "}]}", "x").size() == kRecords + 1);
    CHECK_THROWS_WITH_AS(parse_records(text + last + ", \"speed\": 4}]}", "x"),
                         doctest::Contains(fmt::format("x:{}:{}: ", kRecords + 2, last.size() + 3).c_str()), Error);
}

TEST_CASE("winners that ship with tmm stay shipped when they are imported, exported again and merged") {
    const TemporaryDirectory directory;
    const std::string file = std::string(TMM_SOURCE_DIR) + "/db/winners/winners.csv";
    REQUIRE(tool(directory, fmt::format("import '{}'", file)).status == 0);
    // What was measured beside a winner does not ship, and nothing is said of it.
    const auto shown = tool(directory, "show 4096x4096x4096 --gpu H200");
    CHECK_CONTAINS(shown.out, "shipped with tmm");
    CHECK_MESSAGE(!contains(shown.out, "not known"), shown.out);
    CHECK_MESSAGE(!contains(shown.out, "candidates  0"), shown.out);
    CHECK_MESSAGE(!contains(shown.out, "by -"), shown.out);
    const auto exported = tool(directory, "export --csv --winners");
    const TemporaryDirectory again, merged;
    write_file(again / "winners.csv", exported.out);
    REQUIRE(tool(again, fmt::format("import '{}'", (again / "winners.csv").string())).status == 0);
    REQUIRE(tool(merged, fmt::format("merge '{}'", (again / "tmm.db").string())).status == 0);
    for (const auto* of : {&directory, &again, &merged}) {
        SQLite::Database raw(*of / "tmm.db");
        CHECK(raw.execAndGet("SELECT count(*) FROM winner WHERE origin = 'user'").getInt() == 0);
        CHECK(raw.execAndGet("SELECT count(*) FROM winner WHERE origin = 'shipped'").getInt() ==
              static_cast<int>(shipped_winners().size()));
    }
}

TEST_CASE("an export written by hand needs few columns") {
    const auto records = parse_records("record,device,m,n,k,op_b,family,batch\r\nselection,host,3,5,7,t,naive,2\r\n\r\n", "x");
    REQUIRE(records.size() == 1);
    CHECK(records[0].problem == problem_of("3 5 7 ops=nt batch=2"));
    CHECK(records[0].config == KernelConfig{.family = family::naive});
    // Nothing says that another kernel stood between.
    CHECK(records[0].policy == MeasurementPolicy{.other_kernel = false});
    CHECK(records[0].origin == "user");
}

TEST_CASE("merge takes over other databases once") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    {
        auto other = open(directory / "other.db", "NVIDIA L4");
        other.record(problem_of("64 64 64"), tiled_config(8), {}, measured(3));
        other.decide(problem_of("64 64 64"), {}, {.config = tiled_config(8), .median_us = 3});
    }
    const std::string command = fmt::format("merge '{}'", (directory / "other.db").string());
    const std::string bytes = read_file(directory / "other.db");
    auto result = tool(directory, command);
    CHECK(result.status == 0);
    CHECK_CONTAINS(result.out, "1 new measurements and 1 new decisions");
    CHECK_CONTAINS(tool(directory, "ls").out, "NVIDIA L4");
    const auto exported = tool(directory, "export --csv").out;
    CHECK_CONTAINS(tool(directory, command).out, "0 new measurements and 0 new decisions");
    CHECK(tool(directory, "export --csv").out == exported);
    CHECK(read_file(directory / "other.db") == bytes);
    result = tool(directory, fmt::format("merge '{}'", (directory / "missing.db").string()));
    CHECK(result.status == 5);
    CHECK_CONTAINS(result.err, "missing.db");
}

TEST_CASE("diff shows where winners differ and by how much") {
    const TemporaryDirectory directory;
    fill(directory / "a.db", 100);
    fill(directory / "b.db", 50);
    {
        auto b = open(directory / "b.db");
        b.decide(problem_of("1024 1024 1024 ops=nt"), {}, {.config = tiled_config(16), .median_us = 50});
        b.decide(problem_of("9 9 9"), {}, {.config = tiled_config(16), .median_us = 5});
    }
    const auto arguments = fmt::format("diff '{}' '{}'", (directory / "a.db").string(), (directory / "b.db").string());
    const auto result = tool(directory, arguments);
    CHECK(result.status == 0);
    CHECK_CONTAINS(result.out, "2.000");
    CHECK_CONTAINS(result.out, "9x9x9");
    CHECK_CONTAINS(result.out, "2 tuned problems in both, 1 of them with different winners; 0 only in A, 1 only in B");
    CHECK_CONTAINS(result.out, "geometric mean of 2: 1.414");
    CHECK(tool(directory, fmt::format("diff '{}'", (directory / "a.db").string())).status == 1);
}

TEST_CASE("wrong usage exits 1, a database that can't be used 5, each with one line that says what to do") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    for (const char* arguments : {"",
                                  "lss",
                                  "ls more",
                                  "show",
                                  "show 1x2",
                                  "show 1x2x3 opps=nt",
                                  "export",
                                  "export --csv --json",
                                  "ls --csv",
                                  "import",
                                  "merge",
                                  "diff a",
                                  "verify x",
                                  "ls --bogus",
                                  "ls --db",
                                  "ls --db ''",
                                  "merge a --gpu host",
                                  "import a --gpu host",
                                  "verify --gpu host",
                                  "diff a b --db c",
                                  "ls --driver 13.0"}) {
        CAPTURE(arguments);
        const auto result = tool(directory, arguments);
        CHECK(result.status == 1);
        CHECK(result.out.empty());
        CHECK(result.err.substr(0, 8) == "tmm-db: ");
        CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    }
    CHECK_CONTAINS(tool(directory, "lss").err, "did you mean ls?");
    const auto help = tool(directory, "--help");
    CHECK(help.status == 0);
    for (const char* word : {"ls", "show SHAPE", "candidates", "diff", "stale", "export", "import", "merge", "verify", "--db", "--gpu"})
        CHECK_CONTAINS(help.out, word);

    const auto missing = tool(directory, fmt::format("ls --db '{}'", (directory / "none/tmm.db").string()));
    CHECK(missing.status == 5);
    CHECK_CONTAINS(missing.err, "run tmm-tune");
    write_file(directory / "notes.txt", "not a database, but long enough to look like one\n");
    CHECK(tool(directory, fmt::format("ls --db '{}'", (directory / "notes.txt").string())).status == 5);
    CHECK(tool(directory, fmt::format("import --db '{}' '{}'", (directory / "notes.txt").string(), (directory / "notes.txt").string()))
              .status == 2);
}

TEST_CASE("a locked, newer or foreign database exits 5 and stays as it is") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    {
        SQLite::Database holder(directory / "tmm.db", SQLite::OPEN_READWRITE);
        holder.exec("BEGIN EXCLUSIVE");
        const auto result = tool(directory, "ls");  // waits ten seconds first
        CHECK(result.status == 5);
        CHECK_CONTAINS(result.err, "locked by another process");
    }
    for (const char* sql : {"PRAGMA user_version = 50", "PRAGMA application_id = 7"}) {
        SQLite::Database(directory / "tmm.db", SQLite::OPEN_READWRITE).exec(sql);
        const std::string bytes = read_file(directory / "tmm.db");
        const auto result = tool(directory, "ls");
        CHECK(result.status == 5);
        CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
        CHECK(read_file(directory / "tmm.db") == bytes);
    }
}

TEST_CASE("verify tells a sound database from one with bad rows or lost pages") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    auto result = tool(directory, "verify");
    CHECK(result.status == 0);
    CHECK_CONTAINS(result.out, "is sound: 3 measurements, 2 decisions");
    {
        SQLite::Database raw(directory / "tmm.db", SQLite::OPEN_READWRITE);
        raw.exec(
            "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; UPDATE config SET fields = json_set(fields, '$.family', 50) "
            "WHERE fields LIKE '%block_m_:8,%'");
    }
    result = tool(directory, "verify");
    CHECK(result.status == 5);
    CHECK_CONTAINS(result.out, "family is 50, none of its names");
    CHECK_CONTAINS(result.err, "found");
    CHECK(tool(directory, "ls").status == 0);
    const std::string bytes = read_file(directory / "tmm.db");
    write_file(directory / "tmm.db", bytes.substr(0, bytes.size() / 2));
    result = tool(directory, "ls");
    CHECK(result.status == 5);
    CHECK_CONTAINS(result.err, "damaged");
}

TEST_CASE("the sqlite3 shell reads tables and views") {
    if (run_command("sqlite3 -version").status != 0) {
        MESSAGE("skipped: sqlite3 is not installed");
        return;
    }
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    const auto shell = [&](const std::string& sql) {
        return run_command(fmt::format("sqlite3 '{}' \"{}\"", (directory / "tmm.db").string(), sql));
    };
    CHECK(shell("SELECT shape, device, config, median_us FROM winner WHERE device LIKE '%H200'").out ==
          fmt::format("1024x1024x1024 ops=nt|NVIDIA H200|{}|110.0\n", to_text(tiled_config(32))));
    CHECK(shell("SELECT outcome, detail FROM candidate WHERE outcome <> 'ok'").out == "timed_out|ran longer than 3 s, \"killed\"\n");
    CHECK_CONTAINS(shell(".schema measurement").out, "microseconds of device time a call");
    CHECK(shell("PRAGMA integrity_check").out == "ok\n");
}

TEST_CASE("tmm-db needs no CUDA driver and no NVRTC") {
    const auto linked = run_command(fmt::format("ldd '{}/tools/tmm-db'", TMM_BINARY_DIR));
    CHECK_FALSE(contains(linked.out, "libcuda"));
    CHECK_FALSE(contains(linked.out, "libnvrtc"));
}
