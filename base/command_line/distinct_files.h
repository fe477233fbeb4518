// Keeps what a command writes from what it reads.
#pragma once

#include "base/command_line/command_line.h"

namespace tmm {

// Throws Error (usage) where a file that the command line has written, or standard output, is one that it reads, its database, what SQLite
// keeps beside that, or another that it has written: by whatever spelling.
void check_distinct_files(const CommandLine& line);

}  // namespace tmm
