// What makes a shell complete a tool's commands, options and values.
#pragma once

#include <string>
#include <string_view>

#include "base/command_line/tool_description.h"

namespace tmm {

// shell: bash, zsh or fish. Each needs nothing but the shell itself.
std::string shell_completion(const ToolDescription& tool, std::string_view shell);

}  // namespace tmm
