// tmm-db stale: the winners that tmm-tune would look at again.
#pragma once

#include "base/command_line/command_line.h"
#include "base/error.h"

namespace tmm {

ExitStatus run_stale_command(const CommandLine& line);

}  // namespace tmm
