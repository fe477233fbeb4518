// What a tool says of itself: --help and the manual page, made from its table of options.
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

// A tool's manual page, for man and mandoc.

// Text in roff with the macros of man(7), in ASCII alone.
std::string manual_page(const ToolDescription& tool);

}  // namespace tmm
