// Makes the tables of a database, and turns those of an older version into today's: forward only, in one transaction.
#pragma once

#include <SQLiteCpp/Database.h>

#include <functional>
#include <string>
#include <vector>

namespace tmm {

// "tmmd", the first thing that tells a tuning database from any other SQLite file.
inline constexpr int kApplicationId = 0x746d6d64;

// A step from older versions to version `to`: what copying each table's columns by their names does not do.
struct Migration {
    int to = 0;
    std::function<void(SQLite::Database&)> run;
};

struct SchemaDefinition {
    int version = 0;
    std::string tables;
    std::string views;
    // In ascending order. A step takes every version from the one before it on: there is one for a release, and none for a version in
    // between.
    std::vector<Migration> migrations;
    // Older ones can't be read.
    int oldest = 1;
};

// The one step there is: problems and configs become text (`fields`), and tables that only held names of fields' values go. A row that says
// what no config or problem can be keeps saying it, and whoever reads it refuses it.
void migrate_to_14(SQLite::Database& database);

// The SQL of the views: views.sql, with the columns and spellings of fields put in its braces. Only of the fields and of the names of
// values that are `known`, which is asked of the literals that stand for them there ("$.block_m", "s8"): a database has the views of the
// program that made it, which may have had fewer.
std::string views_of(const std::function<bool(const std::string& literal)>& known);

// Today's schema: schema.sql and views.sql.
SchemaDefinition embedded_schema();

// Makes an empty file a database of the schema's version, brings an older one to it, and fills in the enumerators' names that are missing.
// Views that lack fields or names of values, since a program made them that did not have these, are made anew. All of this happens or
// nothing. Throws SQLite::Exception; Error (database) for a version that can't be brought up. `name`: what errors call the database, if not
// by its file.
void bring_up_to_date(SQLite::Database& database, const SchemaDefinition& schema, const std::string& name = {});

// Today's views as a program would make them that has only those fields and names of values that the database's views name.
std::string views_as_in(SQLite::Database& database);

// A line for each enumerator whose name in the database is not the program's.
std::vector<std::string> wrong_names(SQLite::Database& database);

}  // namespace tmm
