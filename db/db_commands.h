// The commands of tmm-db.
#pragma once

#include "db/library_choice.h"
#include "generator/error.h"
#include "generator/text/command_line.h"

namespace tmm {

// Runs the command of the line; what it finds goes to stdout. The maker says what programs would run.
ExitStatus run_db_command(const CommandLine& line, const LibraryChooserMaker& make_chooser);

}  // namespace tmm
