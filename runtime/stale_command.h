// tmm-db stale: the winners that tmm-tune would look at again.
#pragma once

#include "generator/error.h"
#include "generator/text/command_line.h"

namespace tmm {

ExitStatus run_stale_command(const CommandLine& line);

}  // namespace tmm
