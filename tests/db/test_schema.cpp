// The persistent format: columns against the code's tables, marks by which the file is known, texts in views, old versions.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "db/store/fields.h"
#include "db/store/migration.h"
#include "db/store/record_text.h"
#include "db/store/schema_check.h"
#include "generator/text/text.h"
#include "tests/support/config_testing.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

std::vector<std::string> strings(SQLite::Database& database, const std::string& sql) {
    std::vector<std::string> values;
    SQLite::Statement rows(database, sql);
    while (rows.executeStep()) values.push_back(rows.getColumn(0).getString());
    return values;
}

int number(SQLite::Database& database, const std::string& sql) {
    return database.execAndGet(sql).getInt();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto place = text.find(from);
    REQUIRE(place != std::string::npos);
    return text.replace(place, from.size(), to);
}

// The next version as it might be: devices get a column `cores`.
SchemaDefinition next_schema() {
    auto schema = embedded_schema();
    ++schema.version;
    const std::string column = "cores INTEGER NOT NULL DEFAULT 1 CHECK (cores BETWEEN 0 AND 1048576)";
    schema.tables = replaced(schema.tables, "  UNIQUE (name, compute", "  " + column + ",\n  UNIQUE (name, compute");
    schema.views = replaced(schema.views, "CREATE VIEW winner AS\nSELECT ", "CREATE VIEW winner AS\nSELECT d.cores, ");
    schema.migrations.push_back(
        {.to = schema.version, .run = [=](SQLite::Database& raw) { raw.exec("ALTER TABLE device ADD COLUMN " + column); }});
    return schema;
}

// The cells between tabs of each line.
std::vector<std::vector<std::string>> cells_of_lines(const std::string& text) {
    std::vector<std::vector<std::string>> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.emplace_back();
        for (std::size_t begin = 0; begin <= line.size();) {
            const std::size_t end = std::min(line.find('\t', begin), line.size());
            lines.back().push_back(line.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    return lines;
}

// Loads a dump of tests/data.
void load(const std::filesystem::path& file, const std::string& dump) {
    SQLite::Database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(read_file(std::filesystem::path(TMM_SOURCE_DIR) / "tests/data" / dump));
}

std::vector<std::string> content(SQLite::Database& database) {
    auto rows = strings(database, "SELECT shape || device || config || median_us || reason FROM winner");
    for (const auto& row : strings(database, "SELECT shape || config || outcome || median_us || kernel_hash FROM candidate"))
        rows.push_back(row);
    return rows;
}

void fill(const std::filesystem::path& file) {
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    const auto problem = problem_of("64 64 64 ops=tn");
    database.record(problem, tiled_config(16), {}, measured(10));
    database.record(problem, tiled_config(32), {}, measured(9));
    database.decide(problem, {}, {.config = tiled_config(32), .median_us = 9, .reason = "fastest"});
}

}  // namespace

TEST_CASE("views have a column for each row of kParameters and each field of GemmProblem, the tables none") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    SQLite::Database raw(directory / "tmm.db");
    std::vector<std::string> parameters = {"id"}, fields = {"id"};
    for (const auto& parameter : kParameters) parameters.emplace_back(parameter.name);
    CHECK(strings(raw, "SELECT name FROM pragma_table_info('config_fields')") == parameters);
    for (const auto& field : problem_fields()) fields.emplace_back(field.name);
    CHECK(strings(raw, "SELECT name FROM pragma_table_info('problem_fields')") == fields);
    for (const char* table : {"config", "problem"})
        CHECK(strings(raw, fmt::format("SELECT name FROM pragma_table_info('{}')", table)) == std::vector<std::string>{"id", "fields"});
    const auto shown = strings(raw, "SELECT name FROM pragma_table_info('winner')");
    for (const auto& parameter : kParameters) CHECK(std::count(shown.begin(), shown.end(), parameter.name) == 1);
}

TEST_CASE("the file says what it is, and every table is STRICT") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    SQLite::Database raw(directory / "tmm.db");
    CHECK(number(raw, "PRAGMA application_id") == kApplicationId);
    CHECK(number(raw, "PRAGMA user_version") == TuningDatabase::kVersion);
    CHECK(raw.execAndGet("PRAGMA journal_mode").getString() == "delete");
    CHECK(number(raw, "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") >= 10);
    CHECK(strings(raw, "SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'").empty());
    // Nothing in it can hold code.
    CHECK(number(raw, "SELECT count(*) FROM sqlite_schema AS s, pragma_table_info(s.name) AS c WHERE c.type = 'BLOB'") == 0);
    CHECK(number(raw, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") == 0);
}

TEST_CASE("a version's tables stay as they were when it was made") {
    // A file is refused where its tables are not the program's, so that no edit of schema.sql may reach a version that exists. A new
    // version gets a file of its own, with what `tables` holds here.
    std::string tables;
    for (const auto& object : todays_objects())
        if (object.type != "view") tables += object.sql + ";\n";
    const auto pinned = fmt::format("tests/data/tables_v{}.sql", TuningDatabase::kVersion);
    CHECK(read_file(std::filesystem::path(TMM_SOURCE_DIR) / pinned) == tables);
}

TEST_CASE("enumerators' names in the tables are the program's, and a name that is missing is filled in") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    {
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        CHECK(strings(raw, "SELECT name FROM compute_mode ORDER BY value") == names_of_all<ComputeMode>());
        CHECK(strings(raw, "SELECT name FROM outcome ORDER BY value") == names_of_all<Outcome>());
        // An older program that did not know the mode yet would have left the database like this.
        raw.exec("DELETE FROM compute_mode WHERE name = 'tf32'");
    }
    CHECK(TuningDatabase(file, Mode::read_write).verify().empty());
    SQLite::Database raw(file);
    CHECK(strings(raw, "SELECT name FROM compute_mode ORDER BY value") == names_of_all<ComputeMode>());
}

TEST_CASE("views spell problems and configs as the program does") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    TuningDatabase database(file, Mode::read_write_create);
    database.set_environment(environment_of("host", 80, 1));
    std::set<std::string> shapes, configs;
    for (const char* shape :
         {"1x1x1", "7x5x3 ops=nt", "7x5x3 ops=tn", "7x5x3 ops=tt lda=9 ldb=11 ldc=13", "64 32 16 dtype=f64",
          "64 32 16 dtype=bf16 ctype=f32", "64 32 16 dtype=bf16", "64 32 16 dtype=s8 ops=nt", "64 32 16 batch=5 align=4", "64 32 16 beta=1",
          "64 32 16 compute=f32_strict", "64 32 16 compute=tf32 ops=nt beta=1", "4096 1 65536 layout=col"}) {
        const auto problem = problem_of(shape);
        database.decide(problem, {}, {.config = tiled_config(16), .median_us = 1});
        shapes.insert(to_text(problem));
    }
    std::mt19937 random(41);
    for (int i = 0; i < 150; ++i) {
        const KernelConfig config = random_config(random);
        database.record(problem_of("1x1x1"), config, {}, measured(1));
        configs.insert(to_text(config));
    }
    SQLite::Database raw(file);
    std::set<std::string> shapes_seen, configs_seen;
    for (const auto& shape : strings(raw, "SELECT shape FROM winner")) shapes_seen.insert(shape);
    for (const auto& config : strings(raw, "SELECT config FROM candidate")) configs_seen.insert(config);
    CHECK(shapes_seen == shapes);
    CHECK(configs_seen == configs);
}

TEST_CASE("an older version becomes today's: nothing is lost, new columns have their default") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    SQLite::Database raw(file, SQLite::OPEN_READWRITE);
    const auto before = content(raw);
    REQUIRE(before.size() == 3);
    bring_up_to_date(raw, next_schema());
    CHECK(number(raw, "PRAGMA user_version") == TuningDatabase::kVersion + 1);
    CHECK(content(raw) == before);
    CHECK(strings(raw, "SELECT cores FROM winner") == std::vector<std::string>{"1"});
    CHECK(strings(raw, "PRAGMA integrity_check") == std::vector<std::string>{"ok"});
    bring_up_to_date(raw, next_schema());  // once is enough

    // A file made anew has the same columns and views.
    SQLite::Database fresh(directory / "fresh.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    bring_up_to_date(fresh, next_schema());
    const char* columns =
        "SELECT s.type || ' ' || s.name || '.' || c.name || ' ' || c.type FROM sqlite_schema AS s, pragma_table_info(s.name) AS c ORDER BY "
        "1";
    CHECK(strings(raw, columns) == strings(fresh, columns));

    try {
        TuningDatabase newer(file, Mode::read_write);
        FAIL("a newer version was opened");
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::database);
        CHECK(std::string(error.what()).find(fmt::format("version {}", TuningDatabase::kVersion + 1)) != std::string::npos);
    }
}

TEST_CASE("a database of an older version, as an earlier tmm left it, opens with its winners") {
    struct Older {
        const char* file;
        int measurements;
    };
    for (const Older& older :
         {Older{"database_v1.sql", 31}, Older{"database_v2.sql", 26}, Older{"database_v3.sql", 26}, Older{"database_v4.sql", 26},
          Older{"database_v5.sql", 26}, Older{"database_v6.sql", 26}, Older{"database_v7.sql", 26}, Older{"database_v8.sql", 26},
          Older{"database_v9.sql", 26}, Older{"database_v10.sql", 26}, Older{"database_v11.sql", 26}, Older{"database_v12.sql", 26},
          Older{"database_v13.sql", 26}}) {
        CAPTURE(older.file);
        const TemporaryDirectory directory;
        const auto file = directory / "tmm.db";
        load(file, older.file);
        TuningDatabase(file, Mode::read_write);
        SQLite::Database raw(file);
        CHECK(number(raw, "PRAGMA user_version") == TuningDatabase::kVersion);
        CHECK(strings(raw, "SELECT shape || ' ' || config FROM winner ORDER BY 1") ==
              std::vector<std::string>{"16x16x16 naive 8x32x1", "1x64x32 ops=nt naive 8x32x1"});
        CHECK(number(raw, "SELECT count(*) FROM measurement") == older.measurements);
        CHECK(TuningDatabase(file, Mode::read_only).verify().empty());
    }
}

TEST_CASE("the view of winners says of an older database what it said in that version, in every column") {
    // The database has every family, types, layouts, batches, epilogues and origins of version 13. The rows are what its own view gave, but
    // for the shapes of s8, which that view spelled with the types that they imply.
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    load(file, "fields_v13.sql");
    TuningDatabase(file, Mode::read_write);
    const auto expected = cells_of_lines(read_file(std::filesystem::path(TMM_SOURCE_DIR) / "tests/data/winner_v13.tsv"));
    REQUIRE(expected.size() == 60);
    SQLite::Database raw(file);
    SQLite::Statement rows(raw, fmt::format("SELECT {} FROM winner ORDER BY shape, device, config", fmt::join(expected[0], ", ")));
    for (std::size_t row = 1; row < expected.size(); ++row) {
        REQUIRE(rows.executeStep());
        for (std::size_t i = 0; i < expected[0].size(); ++i) {
            CAPTURE(expected[0][i]);
            CHECK(rows.getColumn(static_cast<int>(i)).getString() == expected[row][i]);
        }
    }
    CHECK_FALSE(rows.executeStep());
    CHECK(TuningDatabase(file, Mode::read_only).records().size() == 71);
    CHECK(TuningDatabase(file, Mode::read_only).verify().empty());
}

TEST_CASE("rows of an older database that are no config or problem keep their values, and are left out") {
    struct Planted {
        const char* sql;
        const char* fault;
    };
    for (const auto& [sql, fault] : {Planted{"UPDATE config SET family = 50 WHERE id = 1", "family is 50, none of its names"},
                                     Planted{"UPDATE config SET block_m = 32768 WHERE id = 1", "block_m is 32768, outside 1 … 4096"},
                                     Planted{"UPDATE problem SET type_c = -3 WHERE id = 1", "type_c is -3, none of its names"},
                                     Planted{"UPDATE problem SET m = -7 WHERE id = 1", "m is -7, outside 0"}}) {
        CAPTURE(std::string(sql));
        const TemporaryDirectory directory;
        const auto file = directory / "tmm.db";
        load(file, "fields_v13.sql");
        SQLite::Database(file, SQLite::OPEN_READWRITE).exec(fmt::format("PRAGMA ignore_check_constraints = ON; {}", sql));
        LeftOut left_out;
        const auto left = TuningDatabase(file, Mode::read_write).records({}, &left_out).size();
        CHECK(left < 71);
        CHECK(left + static_cast<std::size_t>(left_out.measurements + left_out.decisions) == 71);
        CHECK_MESSAGE(left_out.reason.find(fault) != std::string::npos, left_out.reason);
    }
}

TEST_CASE("fields and names of values that a program adds are no new version: views made before get them, and rows neutral values") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    const auto columns = [&](SQLite::Database& raw) {
        return number(raw, "SELECT count(*) FROM pragma_table_info('winner') WHERE name IN ('slice_k', 'stride_r')");
    };
    std::vector<std::string> before;
    {
        // As a program would have left it that had none of these.
        const std::set<std::string> later{"$.slice_k", "$.stride_r", "s8", "+tanh", "skinny"};
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        for (const char* view :
             {"problem_fields", "config_fields", "problem_text", "config_text", "candidate", "current_selection", "winner"})
            raw.exec(fmt::format("DROP VIEW {}", view));
        raw.exec(views_of([&](const std::string& literal) { return !later.contains(literal); }));
        before = content(raw);
        REQUIRE(columns(raw) == 0);
        for (const std::string& literal : later)
            CHECK(number(raw, fmt::format("SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%''{}''%'", literal)) == 0);
    }
    const std::string bytes = read_file(file);
    CHECK(TuningDatabase(file, Mode::read_only).verify().empty());
    CHECK(read_file(file) == bytes);
    {
        TuningDatabase database(file, Mode::read_write);
        CHECK(database.verify().empty());
        database.set_environment(environment_of("NVIDIA H200"));
        database.decide(problem_of("8 8 8 dtype=s8"), {}, {.config = tiled_config(16), .median_us = 1});
        database.decide(problem_of("8 8 8 epilogue=tanh"), {}, {.config = tiled_config(16), .median_us = 1});
    }
    SQLite::Database raw(file);
    CHECK(columns(raw) == 2);
    CHECK(strings(raw, "SELECT shape FROM winner WHERE m = 8 ORDER BY 1") ==
          std::vector<std::string>{"8x8x8 dtype=s8", "8x8x8 epilogue=tanh"});
    CHECK(strings(raw, "SELECT slice_k || ' ' || stride_r FROM winner WHERE m = 64") == std::vector<std::string>{"1 0"});
    const auto after = content(raw);
    for (const std::string& row : before) CHECK(std::count(after.begin(), after.end(), row) == 1);
    CHECK(number(raw, "PRAGMA user_version") == TuningDatabase::kVersion);
}

TEST_CASE("a migration that fails, or that would break references, leaves the old version as it was") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    const std::string bytes = read_file(file);
    for (const char* sql :
         {"ALTER TABLE device ADD COLUMN cores INTEGER; THIS IS NO SQL;", "PRAGMA defer_foreign_keys = ON; DELETE FROM config;"}) {
        CAPTURE(sql);
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        raw.exec("PRAGMA foreign_keys = ON");
        auto schema = next_schema();
        schema.views = embedded_schema().views;
        schema.migrations.back().run = [=](SQLite::Database& database) { database.exec(sql); };
        CHECK_THROWS(bring_up_to_date(raw, schema));
        CHECK(number(raw, "PRAGMA user_version") == TuningDatabase::kVersion);
    }
    CHECK(read_file(file) == bytes);
    auto later = next_schema();
    later.version += 5;
    later.oldest = later.version - 1;
    SQLite::Database raw(file, SQLite::OPEN_READWRITE);
    CHECK_THROWS_AS(bring_up_to_date(raw, later), Error);
    CHECK(read_file(file) == bytes);
}

TEST_CASE("an export has a column for every field, and the shipped winners bear its head") {
    std::set<std::string> names;
    for (const auto& field : record_fields()) CHECK(names.insert(field.name).second);
    for (const auto& parameter : kParameters) CHECK(names.contains(parameter.name));
    for (const auto& field : problem_fields()) CHECK(names.contains(field.name));
    const std::string head = to_csv({});
    CHECK(read_file(std::filesystem::path(TMM_SOURCE_DIR) / "db/winners/winners.csv").substr(0, head.size()) == head);
    for (const auto& winner : shipped_winners()) CHECK(winner.origin == "shipped");
}
