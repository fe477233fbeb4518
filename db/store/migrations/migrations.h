// Makes the tables of a database, and turns those of an older version into today's: forward only, in one transaction.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>
#include <vector>

namespace tmm {

// "tmmd", the first thing that tells a tuning database from any other SQLite file.
inline constexpr int kApplicationId = 0x746d6d64;

// SQL that brings version to - 1 to version `to`.
struct Migration {
    int to = 0;
    std::string sql;
};

struct SchemaDefinition {
    int version = 0;
    std::string tables;
    std::string views;
    // The migrations are in ascending order without gaps, the last one leads to `version`. Versions older than the first one's start can't
    // be read.
    std::vector<Migration> migrations;
};

// The schema from schema.sql, views.sql and every migrate_to_<version>.sql.
SchemaDefinition embedded_schema(int version);

// Makes an empty file a database of the schema's version, brings an older one to it, and fills in the enumerators' names that are missing.
// All of this happens or nothing. Throws SQLite::Exception; Error (database) for a version that can't be brought up. `name`: what errors
// call the database, if not by its file.
void bring_up_to_date(SQLite::Database& database, const SchemaDefinition& schema, const std::string& name = {});

// A line for each enumerator whose name in the database is not the program's.
std::vector<std::string> wrong_names(SQLite::Database& database);

}  // namespace tmm
