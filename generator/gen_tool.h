// The command line of tmm-gen.
#pragma once

#include "generator/text/tool_description.h"

namespace tmm {

const ToolDescription& gen_tool();

}  // namespace tmm
