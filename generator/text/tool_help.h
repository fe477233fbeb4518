// What --help prints, and the sentences on options and the environment that the manual page shares with it.
#pragma once

#include <string>

#include "generator/text/tool_description.h"

namespace tmm {

// The text is at most 80 columns wide.
std::string help_text(const ToolDescription& tool);

// What an option does, the commands that it belongs to and its default.
std::string meaning_of(const OptionDescription& option);

}  // namespace tmm
