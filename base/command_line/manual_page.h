// A tool's manual page, for man and mandoc.
#pragma once

#include <string>

#include "base/command_line/tool_description.h"

namespace tmm {

// Text in roff with the macros of man(7), in ASCII alone.
std::string manual_page(const ToolDescription& tool);

}  // namespace tmm
