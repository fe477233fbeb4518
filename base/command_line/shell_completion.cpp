#include "base/command_line/shell_completion.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/command_line/completion.h"

namespace tmm {
namespace completion {

std::vector<OptionDescription> visible_options(const ToolDescription& tool) {
    std::vector<OptionDescription> options = all_options(tool);
    std::erase_if(options, [](const OptionDescription& option) { return option.hidden; });
    return options;
}

const std::vector<std::string>& offered(const OptionDescription& option) {
    return option.choices.empty() ? option.usual : option.choices;
}

std::string shell_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string head(const ToolDescription& tool) {
    return fmt::format("# Completes the command line of {} {}.\n", tool.name, tool_version());
}

std::vector<std::string> commands_with_files(const ToolDescription& tool) {
    std::vector<std::string> names;
    for (const CommandDescription& command : tool.commands)
        if (command.completion == Completion::file) names.push_back(command.name);
    return names;
}

}  // namespace completion

std::string shell_completion(const ToolDescription& tool, std::string_view shell) {
    if (shell == "bash") return completion::bash(tool);
    if (shell == "zsh") return completion::zsh(tool);
    if (shell == "fish") return completion::fish(tool);
    throw std::logic_error(fmt::format("no completion for {}", shell));
}

}  // namespace tmm
