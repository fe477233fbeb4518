// The commands of tmm-db.
#pragma once

#include "generator/error.h"
#include "generator/text/command_line.h"

namespace tmm {

// Runs the command of the line; what it finds goes to stdout.
ExitStatus run_db_command(const CommandLine& line);

}  // namespace tmm
