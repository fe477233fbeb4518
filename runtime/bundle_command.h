// tmm-db bundle: the kernels of one GPU model's winners in a file.
#pragma once

#include "generator/error.h"
#include "generator/text/command_line.h"

namespace tmm {

ExitStatus run_bundle_command(const CommandLine& line);

}  // namespace tmm
