// tmm-db: looks into a tuning database, moves results between databases, and does what needs the runtime: it makes bundles of kernels,
// which are chosen as the runtime chooses them, and compares winners with the driver that is installed.
#include "base/command_line/tool_main.h"
#include "tools/tmm_db/bundle_command.h"
#include "tools/tmm_db/db_commands.h"
#include "tools/tmm_db/db_tool.h"
#include "tools/tmm_db/library_chooser.h"
#include "tools/tmm_db/stale_command.h"

int main(int argc, char** argv) {
    return tmm::tool_main(tmm::db_tool(), argc, argv, [](const tmm::CommandLine& line) {
        if (line.command() == "bundle") return tmm::run_bundle_command(line);
        if (line.command() == "stale") return tmm::run_stale_command(line);
        return tmm::run_db_command(line, tmm::make_library_chooser);
    });
}
