// tmm-db bundle: the kernels of one GPU model's winners in a file.
#pragma once

#include "base/command_line/command_line.h"
#include "base/error.h"

namespace tmm {

ExitStatus run_bundle_command(const CommandLine& line);

}  // namespace tmm
