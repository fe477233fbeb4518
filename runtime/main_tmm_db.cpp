// tmm-db: looks into a tuning database, moves results between databases, and makes bundles of kernels, which are chosen as the runtime
// chooses them.
#include "db/db_commands.h"
#include "db/db_tool.h"
#include "generator/text/tool_main.h"
#include "runtime/bundle_command.h"

int main(int argc, char** argv) {
    return tmm::tool_main(tmm::db_tool(), argc, argv, [](const tmm::CommandLine& line) {
        return line.command() == "bundle" ? tmm::run_bundle_command(line) : tmm::run_db_command(line);
    });
}
