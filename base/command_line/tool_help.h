// What --help prints, and the sentences on options and the environment that the manual page shares with it.
#pragma once

#include <string>

#include "base/command_line/tool_description.h"

namespace tmm {

// The text is at most 80 columns wide.
std::string help_text(const ToolDescription& tool);
// The help of one of the tool's commands.
std::string command_help(const ToolDescription& tool, const CommandDescription& command);

// What an option of the tool does, its values, its default and the commands that it belongs to.
std::string meaning_of(const OptionDescription& option, const ToolDescription& tool);

}  // namespace tmm
