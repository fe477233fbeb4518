// The command line of tmm-tune.
#pragma once

#include "base/command_line/tool_description.h"

namespace tmm {

const ToolDescription& tune_tool();

}  // namespace tmm
