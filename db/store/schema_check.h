// A database file's schema against the one that tmm makes. A file may come from anybody, and a schema can hold code: triggers, views,
// generated columns, indices over expressions. None of it is ever run.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>
#include <vector>

#include "db/store/migration.h"

namespace tmm {

// Sets the connection's limits: no text, row or statement is longer than tmm's are by far, and nothing is mapped into memory.
void limit_sizes(SQLite::Database& database);

// Turns triggers and the file's views off for the connection, and makes those views that tmm itself queries in the connection's own
// schema `temp`.
void forbid_code_in_schema(SQLite::Database& database);

// Why tmm does not work with the file's tables, one of which computes something when it is read or written; empty where none does.
std::string why_tables_compute(SQLite::Database& database);
// Why tmm does not work with a file of today's version in which tables are missing or were changed; empty where none is.
std::string why_tables_differ(SQLite::Database& database);

// The objects that a schema of today's version has and tmm's has not, that it lacks, or that it defines otherwise: one line each.
std::vector<std::string> schema_differences(SQLite::Database& database);

// A table, index, view or trigger of a schema.
struct SchemaObject {
    // "table", "index", "view" or "trigger".
    std::string type;
    std::string name;
    std::string table;
    // The statement without comments and with single blanks, so that only what SQLite makes of it counts.
    std::string sql;

    friend bool operator==(const SchemaObject&, const SchemaObject&) = default;
};
std::vector<SchemaObject> schema_objects(SQLite::Database& database);
// Tells whether the file holds nothing yet.
bool is_empty(SQLite::Database& database);
// The objects that the schema's tables and views define.
std::vector<SchemaObject> schema_objects(const SchemaDefinition& schema);
// The objects of today's schema.
const std::vector<SchemaObject>& todays_objects();

}  // namespace tmm
