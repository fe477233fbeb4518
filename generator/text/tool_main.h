// What every tool's main() shares: its command line is read, --help and the like are answered, and an error becomes one line on stderr and
// the exit status that it names.
#pragma once

#include <functional>

#include "generator/error.h"
#include "generator/text/command_line.h"

namespace tmm {

int tool_main(const ToolDescription& tool, int argc, char** argv, const std::function<ExitStatus(const CommandLine&)>& run);

}  // namespace tmm
