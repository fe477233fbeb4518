// The command line of tmm-gen.
#pragma once

#include "base/command_line/tool_description.h"

namespace tmm {

const ToolDescription& gen_tool();

}  // namespace tmm
