// tmm-db: looks into a tuning database, and moves results between databases.
#include "db/db_commands.h"
#include "db/db_tool.h"
#include "generator/text/tool_main.h"

int main(int argc, char** argv) {
    return tmm::tool_main(tmm::db_tool(), argc, argv, tmm::run_db_command);
}
