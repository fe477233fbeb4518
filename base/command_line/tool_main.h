// What every tool begins and ends with: its options are read, its outputs replace none of its inputs, and errors become a line and a
// status.
#pragma once

#include <functional>

#include "base/command_line/command_line.h"
#include "base/error.h"

namespace tmm {

int tool_main(const ToolDescription& tool, int argc, char** argv, const std::function<ExitStatus(const CommandLine&)>& run);

// Keeps what a command writes from what it reads.

// Throws Error (usage) where a file that the command line has written, or standard output, is one that it reads, its database, what SQLite
// keeps beside that, or another that it has written: by whatever spelling.
void check_distinct_files(const CommandLine& line);

}  // namespace tmm
