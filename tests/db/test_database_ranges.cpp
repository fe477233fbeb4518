// Values that no program could have written are refused at every door: exports as CSV and JSON, and the rows of a file.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "db/store/field_text.h"
#include "db/store/fields.h"
#include "db/store/ranges.h"
#include "db/store/record_text.h"
#include "generator/families/family.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

const std::string kHuge = "9223372036854775807";

// Returns one record of each kind, whose fields all have values.
std::vector<TuningRecord> samples() {
    TuningRecord measurement{.environment = environment_of("NVIDIA H200"),
                             .problem = problem_of("64 64 64 batch=2"),
                             .config = tiled_config(16),
                             .time = 1'700'000'000,
                             .measurement = measured(10)};
    TuningRecord selection = measurement;
    selection.kind = TuningRecord::Kind::selection;
    selection.candidates = 3;
    selection.default_us = 20;
    selection.runner_up = tiled_config(32);
    selection.runner_up_us = 11;
    selection.reason = "fastest";
    selection.search_hash = "00ff";
    return {measurement, selection};
}

// The record as CSV and as JSON with another value for one field.
std::pair<std::string, std::string> exports(const TuningRecord& record, const std::string& name, const std::string& value) {
    std::string head, line, json;
    for (const auto& field : record_fields()) {
        if (!field.belongs_to(record)) continue;
        const bool changed = field.name == name;
        const std::string cell = changed ? value : field.get(record);
        if (cell.empty() && !changed) continue;
        head += (head.empty() ? "" : ",") + field.name;
        line += fmt::format("{}\"{}\"", line.empty() ? "" : ",", cell);
        const bool quoted = field.is_text || value == "inf" || value == "nan" || value == "-inf" || value == "infinity";
        json += fmt::format("{}\"{}\": {}", json.empty() ? "" : ", ", field.name, quoted ? '"' + cell + '"' : cell);
    }
    return {head + "\n" + line + "\n", "{\"tmm_export\": 1, \"records\": [{" + json + "}]}"};
}

// The reason why the text is refused; empty where it is taken.
std::string refusal(const std::string& text) {
    try {
        (void)parse_records(text, "export");
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::bad_input);
        return error.what();
    }
    return {};
}

bool is_microseconds(const std::string& name) {
    return name.ends_with("_us");
}

void fill(const std::filesystem::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    database.insert(samples());
}

struct Row {
    const char* table;
    std::string column;
    std::string value;
};

// Sets the value, by hand, in all rows.
std::string update(const Row& row) {
    if (std::string_view(row.table) == "config" || std::string_view(row.table) == "problem")
        return fmt::format("UPDATE {} SET fields = json_set(fields, '$.{}', {})", row.table, row.column, row.value);
    return fmt::format("UPDATE {} SET {} = {}", row.table, row.column, row.value);
}

// Values that no column, and no field of a config or problem, takes, by what it is.
std::vector<Row> bad_rows() {
    std::vector<Row> rows;
    for (const char* column : {"median_us", "low_us", "high_us"})
        for (const char* value : {"9e999", "-9e999", "-1", "0", "1e300", "1e-300"}) rows.push_back({"measurement", column, value});
    for (const char* column : {"median_us", "default_us", "runner_up_us"})
        for (const char* value : {"9e999", "-1", "1e300", "1e-300"}) rows.push_back({"selection", column, value});
    for (const char* value : {"-1", "-9e999"}) rows.push_back({"measurement", "error_ratio", value});
    for (const char* value : {"2", "9e999"}) rows.push_back({"measurement", "error_ratio", value});
    rows.push_back({"measurement", "low_us", "10.5"});
    rows.push_back({"measurement", "high_us", "9.5"});
    for (const std::string& value :
         {kHuge, std::string("-9223372036854775807"), std::string("253402300800"), std::string("-62135596801")}) {
        rows.push_back({"measurement", "measured_at", value});
        rows.push_back({"selection", "decided_at", value});
    }
    for (const char* column :
         {"samples", "registers", "spill_bytes", "shared_bytes", "workspace_bytes", "sm_clock_mhz", "throttled", "outcome"})
        for (const std::string& value : {kHuge, std::string("-1")}) rows.push_back({"measurement", column, value});
    for (const std::string& value : {kHuge, std::string("-1")}) {
        rows.push_back({"selection", "candidates", value});
        for (const char* column : {"compute", "predicted"}) rows.push_back({"selection", column, value});
        for (const char* column : {"compute_capability", "sm_count"}) rows.push_back({"device", column, value});
        for (const char* column : {"memory_bytes", "power_limit", "driver_version", "nvrtc_version"})
            rows.push_back({"environment", column, value});
        for (const char* column : {"cold_l2", "graph"}) rows.push_back({"policy", column, value});
        for (const auto& parameter : kParameters) rows.push_back({"config", parameter.name, value});
        for (const auto& field : problem_fields()) rows.push_back({"problem", field.name, value});
    }
    rows.push_back({"config", "block_m", "32769"});
    for (const char* column : {"kernel_name", "kernel_hash", "detail"}) {
        rows.push_back({"measurement", column, "'two' || char(10) || 'lines'"});
        rows.push_back({"measurement", column, "hex(zeroblob(2000))"});
    }
    for (const char* column : {"reason", "search_hash"}) rows.push_back({"selection", column, "char(27) || '[31m'"});
    rows.push_back({"selection", "origin", "'mine'"});
    for (const char* column : {"name"})
        for (const char* value : {"''", "hex(zeroblob(200))"}) rows.push_back({"device", column, value});
    for (const char* value : {"''", "hex(zeroblob(200))"}) rows.push_back({"policy", "data", value});
    return rows;
}

}  // namespace

TEST_CASE("an export's numbers are refused outside their ranges, in every column, as CSV and as JSON") {
    for (const auto& record : samples()) {
        for (const auto& [text, name] : {std::pair(to_csv({record}), "CSV"), std::pair(to_json({record}), "JSON")}) {
            CAPTURE(std::string(name));
            CHECK(refusal(text) == "");
        }
        for (const auto& field : record_fields()) {
            if (field.is_text || !field.belongs_to(record)) continue;
            const auto [same_csv, same_json] = exports(record, field.name, field.get(record));
            CHECK(refusal(same_csv) == "");
            if (!field.get(record).empty()) CHECK(refusal(same_json) == "");
            std::vector<std::string> values = {"inf",  "-inf", "nan", "infinity", kHuge, "-9223372036854775808", "99999999999999999999",
                                               "1e999"};
            // Times before 1970 are dates, too.
            if (field.name != "time") values.emplace_back("-1");
            if (is_microseconds(field.name)) values.insert(values.end(), {"0", "1e300", "1e-300", "-0.5", "1e13"});
            for (const auto& value : values) {
                // A result that is not finite is infinitely wrong, and sizes may be large where the matrices are numbers.
                if (field.name == "error_ratio" && !value.starts_with("-") && value != "nan" && value != "1e999") continue;
                CAPTURE(field.name);
                CAPTURE(value);
                const auto [csv, json] = exports(record, field.name, value);
                const auto csv_reason = refusal(csv), json_reason = refusal(json);
                CHECK_MESSAGE(csv_reason != "", csv);
                CHECK_MESSAGE(json_reason != "", json);
            }
        }
    }
}

TEST_CASE("an export's values that do not belong together are refused") {
    const auto refused = [&](const std::string& name, const std::string& value, const std::string& reason) {
        CAPTURE(name);
        const auto [csv, json] = exports(samples()[0], name, value);
        for (const auto& text : {csv, json}) CHECK_MESSAGE(refusal(text).find(reason) != std::string::npos, refusal(text));
    };
    refused("low_us", "10.5", "low_us=10.5 is above median_us=10");
    refused("high_us", "9.95", "high_us=9.95 is below median_us=10");
    refused("median_us", "5", "low_us=9.9 is above median_us=5");
    refused("error_ratio", "1.5", "error_ratio=1.5 is above 1");
    refused("error_ratio", "inf", "error_ratio=inf is above 1");
    refused("stride_c", "63", "stride_c=63 and ldc=64 make the results of the batch overlap");
    refused("batch", "1", "mean nothing where batch=1");
    refused("lda", "4611686018427387904", "A's size in bytes does not fit");
    refused("stride_b", "4611686018427387904", "B's size in bytes does not fit");
    auto wrong = samples()[0];
    wrong.measurement.outcome = Outcome::inaccurate;
    CHECK(refusal(exports(wrong, "error_ratio", "inf").first) == "");
    // The default of a stride would be no number.
    CHECK(refusal("record,device,m,n,k,batch,lda\nselection,host,9223372036854775807,4,4,2,9223372036854775807\n") != "");
}

TEST_CASE("dates from the year 1 to 9999 are taken, and come back") {
    const TemporaryDirectory directory;
    std::vector<TuningRecord> records;
    for (const std::int64_t time : {kEarliestTime, std::int64_t{-1}, std::int64_t{0}, kLatestTime}) {
        records.push_back(samples()[1]);
        records.back().time = time;
    }
    CHECK(to_csv(parse_records(to_csv(records), "x")) == to_csv(records));
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    CHECK(database.insert(records).selections == 4);
    CHECK(to_json(database.records()) == to_json(records));
    CHECK(database.verify().empty());
    SQLite::Database raw(directory / "tmm.db");
    CHECK(raw.execAndGet("SELECT decided_at FROM winner").getString() == "9999-12-31 23:59:59");
}

TEST_CASE("rows of a file whose values are out of range are left out wherever they are read, and verify() names them") {
    std::vector<std::string> log;
    set_log_sink([&](std::string_view line) { log.emplace_back(line); });
    for (const auto& [table, column, value] : bad_rows()) {
        CAPTURE(fmt::format("{}.{} = {}", table, column, value));
        const TemporaryDirectory directory;
        const auto file = directory / "tmm.db";
        fill(file);
        {
            SQLite::Database raw(file, SQLite::OPEN_READWRITE);
            raw.exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
            raw.exec(update({table, column, value}));
        }
        TuningDatabase database(file, Mode::read_write);
        CHECK_FALSE(database.verify().empty());
        const std::set<std::string> only{"measurement", "selection"};
        CHECK(database.records().size() == only.count(table));
        // Nor by those who read only some of the columns.
        database.set_environment(environment_of("NVIDIA H200"));
        const std::set<std::string> of_winners{"median_us", "compute", "reason", "origin"},
            of_decisions{"median_us", "candidates", "reason", "search_hash"};
        const bool of_both =
            std::string_view(table) == "config" || std::string_view(table) == "problem" || std::string_view(table) == "device";
        const bool of_selections = std::string_view(table) == "selection";
        if (of_both || std::string_view(table) == "measurement") CHECK(database.measurements(samples()[0].problem).empty());
        if (of_both || (of_selections && of_winners.contains(column))) CHECK(database.winners().empty());
        if (of_both || (of_selections && of_decisions.contains(column))) CHECK_FALSE(database.decision(samples()[0].problem));
    }
    set_log_sink({});
}

TEST_CASE("the checks of the schema refuse what is out of range when it is written by hand") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    SQLite::Database raw(directory / "tmm.db", SQLite::OPEN_READWRITE);
    raw.exec("PRAGMA foreign_keys = ON");
    // No check of a row can tell these: control characters, and an error that is too large for its outcome. Of fields the reader alone
    // knows.
    for (const auto& [table, column, value] : bad_rows()) {
        if (std::string_view(table) == "config" || std::string_view(table) == "problem") continue;
        if (value.find("char(") != std::string::npos) continue;
        if (column == "error_ratio" && value[0] != '-') continue;
        CAPTURE(fmt::format("{}.{} = {}", table, column, value));
        CHECK_THROWS_AS(raw.exec(update({table, column, value})), SQLite::Exception);
    }
    for (const char* table : {"config", "problem"})
        for (const char* fields : {"NULL", "''", "'[]'", "'mine'", "7", "'{' || hex(zeroblob(6000)) || '}'"})
            CHECK_THROWS_AS(raw.exec(fmt::format("UPDATE {} SET fields = {}", table, fields)), SQLite::Exception);
}

TEST_CASE("what the program itself could not measure is stored as unknown, and never ends a run") {
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    const auto problem = problem_of("8 8 8");
    for (const double time : {std::numeric_limits<double>::infinity(), std::nan(""), -1.0, 0.0, 1e300, 1e-300}) {
        CAPTURE(time);
        auto strange = measured(1);
        strange.median_us = strange.low_us = strange.high_us = time;
        database.record(problem, tiled_config(8), {}, strange);
        database.decide(problem, {}, {.config = tiled_config(8), .median_us = time});
        CHECK(database.measurements(problem).at(0).measurement.median_us == 0);
        CHECK(database.decision(problem)->median_us == 0);
        CHECK(database.verify().empty());
    }
}

namespace {

struct UnusualField {
    const Parameter* parameter;
    int value;
};

// Each field in turn, with a value that no config may have, or that the sample's family has no use for.
std::vector<UnusualField> unusual_fields(const KernelConfig& config) {
    std::vector<UnusualField> fields;
    for (const Parameter& parameter : kParameters) {
        if (parameter.value_names) continue;
        for (const int value : {least_value(parameter) - 1, most_value(parameter) + 1, most_value(parameter)}) {
            KernelConfig changed = config;
            changed.*parameter.member = value;
            if (find_misused_field(changed)) fields.push_back({&parameter, value});
        }
    }
    return fields;
}

}  // namespace

TEST_CASE("an import refuses a config's field that is out of range or of no use to its family, and names it and its place") {
    const auto record = samples()[1];
    std::set<std::string> misused;
    for (const auto& [parameter, value] : unusual_fields(record.config)) {
        CAPTURE(std::string(parameter->name));
        CAPTURE(value);
        const auto [csv, json] = exports(record, parameter->name, std::to_string(value));
        const std::string of_csv = refusal(csv), of_json = refusal(json);
        CHECK(of_csv.starts_with("export:2:"));
        CHECK(of_csv != "export:2:1");
        CHECK(of_json.starts_with("export:1:"));
        for (const std::string& reason : {of_csv, of_json}) {
            CHECK(reason.find(parameter->name) != std::string::npos);
            if (reason.find(fmt::format("tiled does not use {}: it is {}, not {}", parameter->name, parameter->neutral, value)) !=
                std::string::npos)
                misused.insert(parameter->name);
        }
    }
    // These are all numbers but block_m, block_n, block_k and overlap.
    CHECK(misused.size() == kParameterCount - 2 - 4);
    for (const char* runner_up : {"tiled 16x16x16 planes2", "tiled 0x16x16", "tiled 16x16x8192"}) {
        CAPTURE(runner_up);
        const auto [csv, json] = exports(record, "runner_up", runner_up);
        CHECK(refusal(csv).starts_with("export:2:"));
        CHECK(refusal(json).starts_with("export:1:"));
    }
}

TEST_CASE("a row whose config has a field of no use to its family is left out, and verify() says why") {
    set_log_sink([](std::string_view) {});
    for (const auto& [parameter, value] : unusual_fields(samples()[0].config)) {
        CAPTURE(fmt::format("{} = {}", parameter->name, value));
        KernelConfig changed = samples()[0].config;
        changed.*parameter->member = value;
        const TemporaryDirectory directory;
        fill(directory / "tmm.db");
        {
            SQLite::Database raw(directory / "tmm.db", SQLite::OPEN_READWRITE);
            raw.exec(fmt::format("UPDATE config SET fields = '{}' WHERE id = 1", field_text(changed)));
        }
        TuningDatabase database(directory / "tmm.db", Mode::read_write);
        const auto faults = database.verify();
        REQUIRE_FALSE(faults.empty());
        CHECK(fmt::format("{}", fmt::join(faults, "; ")).find(parameter->name) != std::string::npos);
        CHECK(database.winners().empty());
        CHECK(database.records().empty());
    }
    set_log_sink({});
}
