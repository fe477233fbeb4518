// The persistent format: columns against the code's tables, marks by which the file is known, texts in views, old versions.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "db/store/fields.h"
#include "db/store/migrations/migrations.h"
#include "db/store/record_fields.h"
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

// The next version as it might be: configs get a field `warps`.
SchemaDefinition next_schema() {
    auto schema = embedded_schema(TuningDatabase::kVersion);
    ++schema.version;
    const std::string column = "warps INTEGER NOT NULL DEFAULT 1 CHECK (warps BETWEEN 0 AND 1048576)";
    schema.tables = replaced(schema.tables, "CREATE TABLE config (", "CREATE TABLE config (" + column + ", ");
    schema.views = replaced(schema.views, "CREATE VIEW winner AS\nSELECT ", "CREATE VIEW winner AS\nSELECT h.warps, ");
    schema.migrations.push_back({.to = schema.version, .sql = "ALTER TABLE config ADD COLUMN " + column + ";"});
    return schema;
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

TEST_CASE("a config's columns are the rows of kParameters, a problem's those of GemmProblem") {
    const TemporaryDirectory directory;
    fill(directory / "tmm.db");
    SQLite::Database raw(directory / "tmm.db");
    std::vector<std::string> parameters = {"id"};
    for (const auto& parameter : kParameters) parameters.emplace_back(parameter.name);
    CHECK(strings(raw, "SELECT name FROM pragma_table_info('config')") == parameters);
    std::vector<std::string> fields = {"id"};
    for (const auto& field : problem_fields()) fields.emplace_back(field.name);
    CHECK(strings(raw, "SELECT name FROM pragma_table_info('problem')") == fields);
    // The identities leave nothing out.
    CHECK(number(raw, "SELECT count(*) FROM pragma_index_info('config_identity')") == static_cast<int>(parameters.size()) - 1);
    CHECK(number(raw, "SELECT count(*) FROM pragma_index_info('problem_identity')") == static_cast<int>(fields.size()) - 1);
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
    CHECK(number(raw, "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") >= 14);
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
        CHECK(strings(raw, "SELECT name FROM element_type ORDER BY value") == names_of_all<ElementType>());
        CHECK(strings(raw, "SELECT name FROM compute_mode ORDER BY value") == names_of_all<ComputeMode>());
        CHECK(strings(raw, "SELECT name FROM outcome ORDER BY value") == names_of_all<Outcome>());
        CHECK(strings(raw, "SELECT name FROM family ORDER BY value") ==
              std::vector<std::string>{"naive", "tiled", "simt", "gemv", "wgmma", "mma", "skinny"});
        CHECK(number(raw, "SELECT count(*) FROM boundary") == boundary::count);
        // An older program that did not know the mode yet would have left the database like this.
        raw.exec("DELETE FROM compute_mode WHERE name = 'tf32'");
        // To older programs, steps around products were families.
        raw.exec("INSERT INTO family (value, name) VALUES (4, 'reduce'), (12, 'fixup')");
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
    for (const char* shape : {"1x1x1", "7x5x3 ops=nt", "7x5x3 ops=tn", "7x5x3 ops=tt lda=9 ldb=11 ldc=13", "64 32 16 dtype=f64",
                              "64 32 16 dtype=bf16 ctype=f32", "64 32 16 dtype=bf16", "64 32 16 batch=5 align=4", "64 32 16 beta=1",
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

TEST_CASE("an older version becomes today's: nothing is lost, new fields have their neutral value") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    SQLite::Database raw(file, SQLite::OPEN_READWRITE);
    const auto before = content(raw);
    REQUIRE(before.size() == 3);
    bring_up_to_date(raw, next_schema());
    CHECK(number(raw, "PRAGMA user_version") == TuningDatabase::kVersion + 1);
    CHECK(content(raw) == before);
    CHECK(strings(raw, "SELECT warps FROM winner") == std::vector<std::string>{"1"});
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
          Older{"database_v9.sql", 26}, Older{"database_v10.sql", 26}, Older{"database_v11.sql", 26}, Older{"database_v12.sql", 26}}) {
        CAPTURE(older.file);
        const TemporaryDirectory directory;
        const auto file = directory / "tmm.db";
        SQLite::Database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
            .exec(read_file(std::filesystem::path(TMM_SOURCE_DIR) / "tests/data" / older.file));
        TuningDatabase(file, Mode::read_write);
        SQLite::Database raw(file);
        CHECK(number(raw, "PRAGMA user_version") == TuningDatabase::kVersion);
        CHECK(strings(raw, "SELECT shape || ' ' || config FROM winner ORDER BY 1") ==
              std::vector<std::string>{"16x16x16 naive 8x32x1", "1x64x32 ops=nt naive 8x32x1"});
        CHECK(number(raw, "SELECT count(*) FROM measurement") == older.measurements);
        for (const auto& parameter : kParameters)
            CHECK(number(raw, fmt::format("SELECT count(*) FROM config WHERE {} IS NULL", parameter.name)) == 0);
    }
}

TEST_CASE("a migration that fails, or that would break references, leaves the old version as it was") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    fill(file);
    const std::string bytes = read_file(file);
    for (const char* sql :
         {"ALTER TABLE config ADD COLUMN warps INTEGER; THIS IS NO SQL;", "PRAGMA defer_foreign_keys = ON; DELETE FROM config;"}) {
        CAPTURE(sql);
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        raw.exec("PRAGMA foreign_keys = ON");
        auto schema = next_schema();
        schema.views = embedded_schema(TuningDatabase::kVersion).views;
        schema.migrations.back().sql = sql;
        CHECK_THROWS(bring_up_to_date(raw, schema));
        CHECK(number(raw, "PRAGMA user_version") == TuningDatabase::kVersion);
    }
    CHECK(read_file(file) == bytes);
    auto gap = next_schema();
    gap.version += 5;
    gap.migrations = {{.to = gap.version, .sql = ""}};
    SQLite::Database raw(file, SQLite::OPEN_READWRITE);
    CHECK_THROWS_AS(bring_up_to_date(raw, gap), Error);
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
