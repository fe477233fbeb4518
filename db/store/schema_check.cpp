#include "db/store/schema_check.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "db/store/fields.h"

namespace tmm {
namespace {

// The statement without comments, with a blank where there was white space; what stands in quotes stays.
std::string normalized(std::string_view sql) {
    std::string text;
    bool blank = false;
    const auto skip = [&](std::string_view end, std::size_t from) {
        const auto found = sql.find(end, from);
        return found == std::string_view::npos ? sql.size() : found + end.size();
    };
    for (std::size_t i = 0; i < sql.size();) {
        const char c = sql[i];
        std::size_t next = i + 1;
        if (sql.substr(i, 2) == "--") {
            next = skip("\n", i);
        } else if (sql.substr(i, 2) == "/*") {
            next = skip("*/", i + 2);
        } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f') {
            if (c == '\'' || c == '"' || c == '`' || c == '[') next = skip(std::string_view(c == '[' ? "]" : &sql[i], 1), i + 1);
            if (blank && !text.empty()) text += ' ';
            blank = false;
            text += sql.substr(i, next - i);
            i = next;
            continue;
        }
        blank = true;
        i = next;
    }
    return text;
}

const SchemaObject* find(const std::vector<SchemaObject>& objects, const SchemaObject& like) {
    const auto found = std::find_if(objects.begin(), objects.end(),
                                    [&](const auto& object) { return object.type == like.type && object.name == like.name; });
    return found == objects.end() ? nullptr : &*found;
}

std::string described(const SchemaObject& object) {
    std::string text = fmt::format("{} '{}'", object.type, one_line(object.name, 100));
    if (object.type == "index" || object.type == "trigger") text += fmt::format(" on '{}'", one_line(object.table, 100));
    return text;
}

// The first value of the query's only column; empty where there is no row.
std::string first_name(SQLite::Database& database, const char* sql, const std::string& table) {
    SQLite::Statement rows(database, sql);
    rows.bind(1, table);
    return rows.executeStep() ? one_line(rows.getColumn(0).getString(), 100) : std::string();
}

std::string why_computes(SQLite::Database& database, const SchemaObject& table) {
    if (table.sql.starts_with("CREATE VIRTUAL")) return fmt::format("its table '{}' is a virtual one", table.name);
    if (const auto column = first_name(database, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 0", table.name); !column.empty())
        return fmt::format("column '{}' of its table '{}' is computed", column, table.name);
    const auto index = first_name(database,
                                  "SELECT i.name FROM pragma_index_list(?) AS i WHERE i.partial OR EXISTS "
                                  "(SELECT 1 FROM pragma_index_xinfo(i.name) WHERE cid = -2)",
                                  table.name);
    return index.empty() ? std::string() : fmt::format("index '{}' of its table '{}' computes something", index, table.name);
}

const std::string& current_selection_view() {
    static const auto* sql = [] {
        constexpr std::string_view kCreate = "CREATE VIEW current_selection AS";
        const std::string views = embedded_schema().views;
        const auto begin = views.find(kCreate);
        return new std::string("CREATE TEMP VIEW current_selection AS" +
                               views.substr(begin + kCreate.size(), views.find(';', begin) - begin - kCreate.size()));
    }();
    return *sql;
}

}  // namespace

void limit_sizes(SQLite::Database& database) {
    constexpr std::pair<int, int> kLimits[] = {
        {SQLITE_LIMIT_LENGTH, 100'000},      {SQLITE_LIMIT_SQL_LENGTH, 100'000}, {SQLITE_LIMIT_COLUMN, 200},
        {SQLITE_LIMIT_EXPR_DEPTH, 200},      {SQLITE_LIMIT_COMPOUND_SELECT, 4},  {SQLITE_LIMIT_VDBE_OP, 100'000},
        {SQLITE_LIMIT_FUNCTION_ARG, 8},      {SQLITE_LIMIT_ATTACHED, 0},         {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 200}, {SQLITE_LIMIT_TRIGGER_DEPTH, 1},    {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (const auto& [limit, value] : kLimits) sqlite3_limit(database.getHandle(), limit, value);
    database.exec("PRAGMA mmap_size = 0");
    database.exec("PRAGMA cell_size_check = ON");
}

bool is_empty(SQLite::Database& database) {
    return database.execAndGet("SELECT NOT EXISTS (SELECT 1 FROM main.sqlite_schema)").getInt() == 1;
}

void forbid_code_in_schema(SQLite::Database& database) {
    sqlite3* const handle = database.getHandle();
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    database.exec(current_selection_view());
}

std::vector<SchemaObject> schema_objects(SQLite::Database& database) {
    std::vector<SchemaObject> objects;
    // SQLite itself makes the indices of UNIQUE constraints, and the tables of ANALYZE.
    SQLite::Statement rows(database,
                           "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE NOT (type = 'index' AND sql IS NULL AND "
                           "name GLOB 'sqlite_autoindex_*') AND NOT (type = 'table' AND name GLOB 'sqlite_stat[1-4]')");
    while (rows.executeStep())
        objects.push_back({.type = rows.getColumn(0).getString(),
                           .name = rows.getColumn(1).getString(),
                           .table = rows.getColumn(2).getString(),
                           .sql = normalized(rows.getColumn(3).getString())});
    return objects;
}

std::vector<SchemaObject> schema_objects(const SchemaDefinition& schema) {
    SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_MEMORY);
    database.exec(schema.tables);
    database.exec(schema.views);
    return schema_objects(database);
}

const std::vector<SchemaObject>& todays_objects() {
    static const auto* objects = new auto(schema_objects(embedded_schema()));
    return *objects;
}

std::string why_tables_compute(SQLite::Database& database) {
    const auto objects = schema_objects(database);
    for (const SchemaObject& ours : todays_objects()) {
        const SchemaObject* theirs = ours.type == "table" ? find(objects, ours) : nullptr;
        if (!theirs) continue;
        if (const auto reason = why_computes(database, *theirs); !reason.empty()) return reason;
    }
    return {};
}

std::string why_tables_differ(SQLite::Database& database) {
    const auto objects = schema_objects(database);
    for (const SchemaObject& ours : todays_objects()) {
        if (ours.type != "table") continue;
        const SchemaObject* theirs = find(objects, ours);
        if (!theirs) return fmt::format("no such table: {}", ours.name);
        if (theirs->sql != ours.sql) return fmt::format("its table '{}' is not as tmm makes it", ours.name);
    }
    return {};
}

std::vector<std::string> schema_differences(SQLite::Database& database) {
    std::vector<std::string> differences;
    const auto objects = schema_objects(database);
    SchemaDefinition schema = embedded_schema();
    schema.views = views_as_in(database);
    const auto own = schema_objects(schema);
    for (const SchemaObject& theirs : objects) {
        const SchemaObject* ours = find(own, theirs);
        if (!ours)
            differences.push_back(described(theirs) + ": is no part of a tuning database; tmm makes no use of it");
        else if (ours->sql != theirs.sql || ours->table != theirs.table)
            differences.push_back(described(theirs) + ": is not as tmm makes it");
    }
    for (const SchemaObject& ours : own)
        if (!find(objects, ours)) differences.push_back(described(ours) + ": is missing");
    return differences;
}

}  // namespace tmm
