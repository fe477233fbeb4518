// Creates tables, and runs the steps from an older version to today's.
#include "db/migrations.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>

#include <map>

#include "db/fields.h"
#include "db/measurement.h"
#include "generator/error.h"
#include "generator/text.h"

namespace tmm {

const std::map<std::string, std::string>& embedded_sql();

namespace {

int pragma(SQLite::Database& database, const char* name) {
    return database.execAndGet(fmt::format("PRAGMA {}", name)).getInt();
}

void drop_views(SQLite::Database& database) {
    std::vector<std::string> names;
    SQLite::Statement views(database, "SELECT name FROM sqlite_schema WHERE type = 'view'");
    while (views.executeStep()) names.push_back(views.getColumn(0).getString());
    for (const auto& name : names) {
        std::string quoted;
        for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
        database.exec(fmt::format("DROP VIEW \"{}\"", quoted));
    }
}

void migrate(SQLite::Database& database, const SchemaDefinition& schema, int from) {
    if (schema.migrations.empty() || from < schema.migrations.front().to - 1)
        throw Error(ExitStatus::database, fmt::format("the database has version {}, which this tmm can no longer read", from),
                    database.getFilename(), "move it away and tune again");
    drop_views(database);
    for (const auto& step : schema.migrations)
        if (step.to > from) database.exec(step.sql);
    database.exec(schema.views);
    SQLite::Statement broken(database, "SELECT \"table\" FROM pragma_foreign_key_check");
    if (broken.executeStep())
        throw Error(ExitStatus::database, fmt::format("rows of table '{}' refer to rows that are missing", broken.getColumn(0).getString()),
                    database.getFilename(), "the file was left at its old version; restore a copy, or move it away and tune again");
}

// Table -> names of its values 0, 1, ….
std::vector<std::pair<std::string, std::vector<std::string>>> enumerations() {
    return {{"element_type", names_of_all<ElementType>()},
            {"compute_mode", names_of_all<ComputeMode>()},
            {"epilogue", names_of_all<Epilogue>()},
            {"family", {std::begin(kFamilyNames), std::end(kFamilyNames)}},
            {"boundary", {std::begin(kBoundaryNames), std::end(kBoundaryNames)}},
            {"outcome", names_of_all<Outcome>()}};
}

bool names_are_complete(SQLite::Database& database) {
    for (const auto& [table, names] : enumerations())
        if (database.execAndGet(fmt::format("SELECT count(*) FROM {}", table)).getInt() < static_cast<int>(names.size())) return false;
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

SchemaDefinition embedded_schema(int version) {
    const auto& files = embedded_sql();
    SchemaDefinition schema{.version = version, .tables = files.at("schema.sql"), .views = files.at("views.sql"), .migrations = {}};
    for (int to = 2; to <= version; ++to) schema.migrations.push_back({.to = to, .sql = files.at(fmt::format("migrate_to_{}.sql", to))});
    return schema;
}

void bring_up_to_date(SQLite::Database& database, const SchemaDefinition& schema) {
    if (pragma(database, "user_version") == schema.version && names_are_complete(database)) return;
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    // Read again: another process may have done the work since.
    const int version = pragma(database, "user_version");
    const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
    if (empty) {
        database.exec(schema.tables);
        database.exec(schema.views);
        database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    } else if (version < schema.version) {
        migrate(database, schema, version);
    }
    if (version < schema.version) database.exec(fmt::format("PRAGMA user_version = {}", schema.version));
    fill_in_names(database);
    transaction.commit();
}

}  // namespace tmm
