// The command line of tmm-tune.
#pragma once

#include "generator/text/tool_description.h"

namespace tmm {

const ToolDescription& tune_tool();

}  // namespace tmm
