// The command line of tmm-db.
#pragma once

#include "base/command_line/tool_description.h"

namespace tmm {

const ToolDescription& db_tool();

}  // namespace tmm
