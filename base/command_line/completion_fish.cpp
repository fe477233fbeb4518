// Rules for fish's `complete`.
#include <fmt/format.h>

#include <algorithm>

#include "base/command_line/completion.h"

namespace tmm::completion {
namespace {

std::string fish_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return quoted + "'";
}

std::string fish_option(const ToolDescription& tool, const OptionDescription& option) {
    std::string line = fmt::format("complete -c {} -l {}", tool.name, option.name);
    if (option.letter) line += fmt::format(" -s {}", option.letter);
    if (!option.commands.empty())
        line += fmt::format(" -n {}", fish_quoted(fmt::format("__fish_seen_subcommand_from {}", fmt::join(option.commands, " "))));
    if (!option.value.empty()) line += option.completion == Completion::nothing ? " -x" : " -r -F";
    if (!offered(option).empty()) line += fmt::format(" -a {}", fish_quoted(fmt::format("{}", fmt::join(offered(option), " "))));
    return line + fmt::format(" -d {}\n", fish_quoted(option.help));
}

}  // namespace

std::string fish(const ToolDescription& tool) {
    std::string text = head(tool) + fmt::format("complete -c {} -f\n", tool.name);
    for (const CommandDescription& command : tool.commands) {
        text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", tool.name, command.name, fish_quoted(command.help));
        if (command.completion == Completion::file)
            text += fmt::format("complete -c {} -n {} -F\n", tool.name, fish_quoted("__fish_seen_subcommand_from " + command.name));
    }
    for (const OptionDescription& option : visible_options(tool)) text += fish_option(tool, option);
    return text;
}

}  // namespace tmm::completion
