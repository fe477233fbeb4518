// Creates tables, and runs the steps from an older version to today's.
#include "db/store/migration.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "db/store/field_text.h"
#include "db/store/fields.h"
#include "db/store/measurement.h"
#include "db/store/schema_check.h"
#include "db/store/tuning_database.h"
#include "generator/text/text.h"

namespace tmm {

const std::map<std::string, std::string>& embedded_database_files();

namespace {

int pragma(SQLite::Database& database, const char* name) {
    return database.execAndGet(fmt::format("PRAGMA {}", name)).getInt();
}

// Views read tables, and are made anew once those are as they should be.
void drop_views(SQLite::Database& database, const std::vector<SchemaObject>& objects) {
    for (const auto& object : objects)
        if (object.type == "view") database.exec(fmt::format("DROP VIEW IF EXISTS main.{}", object.name));
}

// The columns that the table has now and keeps.
std::string kept_columns(SQLite::Database& database, const std::string& table, const SQLite::Database& wanted) {
    std::string columns;
    SQLite::Statement names(wanted, "SELECT name FROM pragma_table_info(?)");
    names.bind(1, table);
    while (names.executeStep()) {
        const std::string name = names.getColumn(0).getString();
        SQLite::Statement has(database, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
        has.bind(1, table);
        has.bind(2, name);
        if (has.executeStep()) columns += (columns.empty() ? "" : ", ") + name;
    }
    return columns;
}

// What SQLite keeps of the statements that make a table and its indices.
std::vector<std::string> statements_of(const SQLite::Database& database, const std::string& table) {
    std::vector<std::string> statements;
    SQLite::Statement rows(database, "SELECT sql FROM main.sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY rowid");
    rows.bind(1, table);
    while (rows.executeStep()) statements.push_back(rows.getColumn(0).getString());
    return statements;
}

void make_anew(SQLite::Database& database, const std::string& table, const SQLite::Database& wanted) {
    const std::string columns = kept_columns(database, table, wanted);
    if (!columns.empty()) {
        database.exec(fmt::format("CREATE TEMP TABLE kept AS SELECT {} FROM main.{} ORDER BY rowid", columns, table));
        database.exec(fmt::format("DROP TABLE main.{}", table));
    }
    for (const std::string& statement : statements_of(wanted, table)) database.exec(statement);
    if (columns.empty()) return;
    database.exec(fmt::format("INSERT INTO main.{0} ({1}) SELECT {1} FROM temp.kept ORDER BY rowid", table, columns));
    database.exec("DROP TABLE temp.kept");
}

// A table that steps have changed reads otherwise than one made anew, and lacks its newer checks. So those are made anew, in which rows
// that break a check stay: a database is not the place to lose them, and whoever reads them checks their values.
void make_changed_tables_anew(SQLite::Database& database, const SchemaDefinition& schema, const std::vector<SchemaObject>& objects) {
    SQLite::Database wanted(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_MEMORY);
    wanted.exec(schema.tables);
    const std::vector<SchemaObject> theirs = schema_objects(database);
    database.exec("PRAGMA ignore_check_constraints = ON");
    for (const SchemaObject& object : objects)
        if (object.type == "table" && std::find(theirs.begin(), theirs.end(), object) == theirs.end())
            make_anew(database, object.name, wanted);
    database.exec("PRAGMA ignore_check_constraints = OFF");
}

void migrate(SQLite::Database& database, const SchemaDefinition& schema, int from, const std::string& name) {
    if (from < schema.oldest)
        throw Error(ExitStatus::database, fmt::format("the database has version {}, which this tmm can no longer read", from), name,
                    "move it away and tune again");
    const auto objects = schema_objects(schema);
    drop_views(database, objects);
    for (const auto& step : schema.migrations)
        if (step.to > from) step.run(database);
    make_changed_tables_anew(database, schema, objects);
    database.exec(schema.views);
    SQLite::Statement broken(database, "SELECT \"table\" FROM pragma_foreign_key_check");
    if (broken.executeStep())
        throw Error(ExitStatus::database, fmt::format("rows of table '{}' refer to rows that are missing", broken.getColumn(0).getString()),
                    name, "the file was left at its old version; restore a copy, or move it away and tune again");
}

// Whether the views are tmm's own, made by a program that had fewer fields. A stranger's stay, so that verify() names them.
bool lacks_fields(SQLite::Database& database, const SchemaDefinition& schema) {
    const std::string views = views_as_in(database);
    if (views == schema.views) return false;
    SchemaDefinition theirs = schema;
    theirs.views = views;
    const std::vector<SchemaObject> objects = schema_objects(database);
    for (const SchemaObject& wanted : schema_objects(theirs))
        if (wanted.type == "view" && std::find(objects.begin(), objects.end(), wanted) == objects.end()) return false;
    return true;
}

// Tables that others refer to are dropped and made anew; what the rows refer to is checked once all of it is there.
class UncheckedReferences {
public:
    explicit UncheckedReferences(SQLite::Database& database) : database_(database), enabled_(pragma(database, "foreign_keys") != 0) {
        database_.exec("PRAGMA foreign_keys = OFF");
    }
    ~UncheckedReferences() { database_.tryExec(enabled_ ? "PRAGMA foreign_keys = ON" : "PRAGMA foreign_keys = OFF"); }
    UncheckedReferences(const UncheckedReferences&) = delete;
    UncheckedReferences& operator=(const UncheckedReferences&) = delete;

private:
    SQLite::Database& database_;
    bool enabled_;
};

// Table -> names of its values 0, 1, ….
std::vector<std::pair<std::string, std::vector<std::string>>> enumerations() {
    return {{"compute_mode", names_of_all<ComputeMode>()}, {"outcome", names_of_all<Outcome>()}};
}

bool names_are_complete(SQLite::Database& database) {
    for (const auto& [table, names] : enumerations()) {
        SQLite::Statement known(database, fmt::format("SELECT 1 FROM {} WHERE value = ?", table));
        for (std::size_t value = 0; value < names.size(); ++value) {
            known.bind(1, static_cast<int>(value));
            if (!known.executeStep()) return false;
            known.reset();
        }
    }
    return true;
}

void fill_in_names(SQLite::Database& database) {
    for (const auto& [table, names] : enumerations()) {
        SQLite::Statement insert(database, fmt::format("INSERT INTO {} (value, name) VALUES (?, ?) ON CONFLICT DO NOTHING", table));
        for (std::size_t value = 0; value < names.size(); ++value) {
            insert.bind(1, static_cast<int>(value));
            insert.bind(2, names[value]);
            insert.exec();
            insert.reset();
        }
    }
}

}  // namespace

SchemaDefinition embedded_schema() {
    return {.version = TuningDatabase::kVersion,
            .tables = embedded_database_files().at("store/schema.sql"),
            .views = views_of([](const std::string&) { return true; }),
            .migrations = {{.to = 14, .run = migrate_to_14}}};
}

std::string views_as_in(SQLite::Database& database) {
    SQLite::Statement rows(database, "SELECT coalesce(sql, '') FROM main.sqlite_schema WHERE type = 'view'");
    std::string views;
    while (rows.executeStep()) views += rows.getColumn(0).getString();
    const auto known = [&](const std::string& literal) { return views.find("'" + literal + "'") != std::string::npos; };
    const auto knows_some = [&](const std::vector<StoredField>& fields) {
        return std::any_of(fields.begin(), fields.end(), [&](const StoredField& field) { return known(std::string("$.") + field.name); });
    };
    // No program had none.
    const bool is_ours = knows_some(stored_problem_fields()) && knows_some(stored_config_fields());
    return is_ours ? views_of(known) : embedded_schema().views;
}

void bring_up_to_date(SQLite::Database& database, const SchemaDefinition& schema, const std::string& name) {
    const auto is_complete = [&] {
        return pragma(database, "user_version") == schema.version && names_are_complete(database) && !lacks_fields(database, schema);
    };
    if (is_complete()) return;
    const UncheckedReferences unchecked(database);
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    // Read again: another process may have done the work since.
    const int version = pragma(database, "user_version");
    if (is_empty(database)) {
        database.exec(schema.tables);
        database.exec(schema.views);
        database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    } else if (version < schema.version) {
        migrate(database, schema, version, name.empty() ? database.getFilename() : name);
    } else if (lacks_fields(database, schema)) {
        drop_views(database, schema_objects(schema));
        database.exec(schema.views);
    }
    if (version < schema.version) database.exec(fmt::format("PRAGMA user_version = {}", schema.version));
    fill_in_names(database);
    transaction.commit();
}

std::vector<std::string> wrong_names(SQLite::Database& database) {
    std::vector<std::string> faults;
    for (const auto& [table, names] : enumerations()) {
        SQLite::Statement rows(database, fmt::format("SELECT value, name FROM {} ORDER BY value", table));
        while (rows.executeStep()) {
            const auto value = rows.getColumn(0).getInt64();
            const std::string name = rows.getColumn(1).getString();
            // Larger ones are a newer program's.
            if (value >= static_cast<std::int64_t>(names.size())) continue;
            if (value < 0 || name != names[static_cast<std::size_t>(value)])
                faults.push_back(fmt::format("{} {}: is called '{}'", table, value, one_line(name, 100)));
        }
    }
    return faults;
}

}  // namespace tmm
