// The command line of tmm-db.
#pragma once

#include "generator/text/tool_description.h"

namespace tmm {

const ToolDescription& db_tool();

}  // namespace tmm
