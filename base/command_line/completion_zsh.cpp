// A function for zsh's completion system, by _arguments.
#include <fmt/format.h>

#include <algorithm>

#include "base/command_line/completion.h"

namespace tmm::completion {
namespace {

// Colons and brackets would end a part of a specification.
std::string zsh_escaped(std::string_view text) {
    std::string escaped;
    for (const char c : text)
        escaped += std::string_view(":[]\\").find(c) != std::string_view::npos ? std::string("\\") + c : std::string(1, c);
    return escaped;
}

std::string zsh_values(const OptionDescription& option) {
    if (option.value.empty()) return {};
    std::string action = " ";
    if (option.completion == Completion::file) action = "_files";
    if (option.completion == Completion::directory) action = "_files -/";
    if (!offered(option).empty()) action = fmt::format("({})", fmt::join(offered(option), " "));
    return fmt::format(":{}:{}", zsh_escaped(option.value), action);
}

std::string zsh_option(const OptionDescription& option) {
    const std::string meaning = fmt::format("[{}]", zsh_escaped(option.help));
    const char* equals = option.value.empty() ? "" : "=";
    if (option.letter) return fmt::format("'(-{0} --{1})'{{-{0},--{1}}}{2}", option.letter, option.name, shell_quoted(meaning));
    return shell_quoted(fmt::format("{}--{}{}{}{}", option.repeatable ? "*" : "", option.name, equals, meaning, zsh_values(option)));
}

// Fills the array `options` with those that the command takes, or all where it is not known yet.
std::string zsh_options(const ToolDescription& tool) {
    std::vector<std::string> names;
    for (const CommandDescription& command : tool.commands) names.push_back(command.name);
    std::string text = "local -a options\n";
    if (!names.empty()) text += fmt::format("local command=${{words[(r)({})]}}\n", fmt::join(names, "|"));
    for (const OptionDescription& option : visible_options(tool)) {
        if (!option.commands.empty()) text += fmt::format("[[ -z $command || $command == ({}) ]] && ", fmt::join(option.commands, "|"));
        text += fmt::format("options+=({})\n", zsh_option(option));
    }
    return text;
}

std::string zsh_words(const ToolDescription& tool) {
    std::string names;
    for (const CommandDescription& command : tool.commands) {
        names += fmt::format("        {}\n", shell_quoted(command.name + ":" + zsh_escaped(command.help)));
    }
    return fmt::format(
        "case $state in\n"
        "command)\n"
        "    local -a commands=(\n{}    )\n"
        "    _describe command commands\n"
        "    ;;\n"
        "word)\n"
        "    case $line[1] in\n"
        "    {}) _files ;;\n"
        "    esac\n"
        "    ;;\n"
        "esac\n",
        names, fmt::join(commands_with_files(tool), " | "));
}

}  // namespace

std::string zsh(const ToolDescription& tool) {
    const std::string text = fmt::format("#compdef {}\n{}", tool.name, head(tool)) + zsh_options(tool);
    if (tool.commands.empty()) return text + "_arguments -S $options\n";
    return text +
           "local context state state_descr line\n"
           "typeset -A opt_args\n"
           "_arguments -S $options '1:command:->command' '*:word:->word' && return\n" +
           zsh_words(tool);
}

}  // namespace tmm::completion
