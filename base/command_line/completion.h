// What the completions of several shells are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/command_line/tool_description.h"

namespace tmm::completion {

std::string bash(const ToolDescription& tool);
std::string zsh(const ToolDescription& tool);
std::string fish(const ToolDescription& tool);

// The first line of each completion: a comment.
std::string head(const ToolDescription& tool);
// The options without the hidden ones.
std::vector<OptionDescription> visible_options(const ToolDescription& tool);
// The values that are worth offering.
const std::vector<std::string>& offered(const OptionDescription& option);
// Commands whose words are files.
std::vector<std::string> commands_with_files(const ToolDescription& tool);
// The text in single quotes, as sh has them.
std::string shell_quoted(std::string_view text);

}  // namespace tmm::completion
