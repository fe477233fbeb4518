// What every tool's main() shares: its command line is read, --help and the like are answered, and an error becomes one line on stderr and
// the exit status that it names.
#pragma once

#include <functional>

#include "base/command_line/command_line.h"
#include "base/error.h"

namespace tmm {

int tool_main(const ToolDescription& tool, int argc, char** argv, const std::function<ExitStatus(const CommandLine&)>& run);

}  // namespace tmm
