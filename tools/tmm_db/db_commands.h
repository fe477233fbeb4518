// The commands of tmm-db.
#pragma once

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "tools/tmm_db/library_choice.h"

namespace tmm {

// Runs the command of the line; what it finds goes to stdout. The maker says what programs would run.
ExitStatus run_db_command(const CommandLine& line, const LibraryChooserMaker& make_chooser);

}  // namespace tmm
