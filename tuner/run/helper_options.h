// Options by which a program that tunes starts itself again, as one of its own helper processes.
#pragma once

#include <optional>
#include <vector>

#include "base/command_line/command_line.h"
#include "base/error.h"

namespace tmm {

// Every tool that starts workers or compilers has these hidden options.
std::vector<OptionDescription> helper_options();

// Serves as the worker or the compiler that the command line asks for, until its parent ends it. Returns nothing where it asks for neither.
std::optional<ExitStatus> serve_as_helper(const CommandLine& line);

}  // namespace tmm
