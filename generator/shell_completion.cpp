#include "generator/shell_completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tmm {
namespace {

std::vector<OptionDescription> visible_options(const ToolDescription& tool) {
    std::vector<OptionDescription> options = all_options(tool);
    std::erase_if(options, [](const OptionDescription& option) { return option.hidden; });
    return options;
}

// The values that are worth offering.
const std::vector<std::string>& offered(const OptionDescription& option) {
    return option.choices.empty() ? option.usual : option.choices;
}

// tmm-tune as a function's name.
std::string function_name(const ToolDescription& tool) {
    std::string name = "_" + tool.name;
    std::ranges::replace(name, '-', '_');
    return name;
}

// In single quotes, as sh has them.
std::string shell_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string head(const ToolDescription& tool, const char* comment) {
    return fmt::format("{} Completes the command line of {} {}.\n", comment, tool.name, tool_version());
}

// Those whose words are files.
std::vector<std::string> commands_with_files(const ToolDescription& tool) {
    std::vector<std::string> names;
    for (const CommandDescription& command : tool.commands)
        if (command.completion == Completion::file) names.push_back(command.name);
    return names;
}

constexpr const char* kBashFiles = "mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); compopt -o filenames 2>/dev/null";

std::string bash_values(const OptionDescription& option) {
    if (option.completion == Completion::file) return kBashFiles;
    if (option.completion == Completion::directory)
        return "mapfile -t COMPREPLY < <(compgen -d -- \"$word\"); compopt -o filenames 2>/dev/null";
    if (offered(option).empty()) return "COMPREPLY=()";
    return fmt::format("mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")",
                       shell_quoted(fmt::format("{}", fmt::join(offered(option), " "))));
}

std::string bash_option_cases(const ToolDescription& tool) {
    std::string text = "    case $before in\n";
    for (const OptionDescription& option : visible_options(tool))
        if (!option.value.empty()) text += fmt::format("        --{}) {}; return ;;\n", option.name, bash_values(option));
    return text + "    esac\n";
}

// Names of the options that a command takes.
std::string option_names(const ToolDescription& tool, const std::string& command) {
    std::string names;
    for (const OptionDescription& option : visible_options(tool))
        if (command.empty() || option.commands.empty() || std::ranges::find(option.commands, command) != option.commands.end())
            names += (names.empty() ? "--" : " --") + option.name;
    return names;
}

std::string bash_command_cases(const ToolDescription& tool) {
    std::vector<std::string> with_value;
    for (const OptionDescription& option : visible_options(tool))
        if (!option.value.empty()) with_value.push_back("--" + option.name);
    std::string text = fmt::format(
        "    local command='' options i\n"
        "    for ((i = 1; i < COMP_CWORD; ++i)); do\n"
        "        case ${{COMP_WORDS[i]}} in\n"
        "            =) ((++i)) ;;\n"
        "            {}) [[ ${{COMP_WORDS[i + 1]}} == = ]] || ((++i)) ;;\n"
        "            -*) ;;\n"
        "            *) command=${{COMP_WORDS[i]}}; break ;;\n"
        "        esac\n"
        "    done\n"
        "    case $command in\n",
        fmt::join(with_value, " | "));
    std::vector<std::string> names;
    for (const CommandDescription& command : tool.commands) {
        names.push_back(command.name);
        text += fmt::format("        {}) options={} ;;\n", command.name, shell_quoted(option_names(tool, command.name)));
    }
    text += fmt::format("        *) options={} ;;\n    esac\n", shell_quoted(option_names(tool, {})));
    text += fmt::format(
        "    if [[ $word != -* && -z $command ]]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")\n"
        "        return\n"
        "    fi\n",
        shell_quoted(fmt::format("{}", fmt::join(names, " "))));
    return text + fmt::format(
                      "    case $command in\n"
                      "        {}) if [[ $word != -* ]]; then {}; return; fi ;;\n"
                      "    esac\n",
                      fmt::join(commands_with_files(tool), " | "), kBashFiles);
}

std::string bash_completion(const ToolDescription& tool) {
    std::string text = head(tool, "#") + fmt::format(
                                             "{}() {{\n"
                                             "    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
                                             "    # bash takes --option=value for three words.\n"
                                             "    if [[ $word == = ]]; then\n"
                                             "        word=''\n"
                                             "    elif [[ $before == = && $COMP_CWORD -gt 2 ]]; then\n"
                                             "        before=${{COMP_WORDS[COMP_CWORD - 2]}}\n"
                                             "    fi\n",
                                             function_name(tool));
    text += bash_option_cases(tool);
    text += tool.commands.empty() ? fmt::format("    local options={}\n", shell_quoted(option_names(tool, {}))) : bash_command_cases(tool);
    text += "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n}\n";
    return text + fmt::format("complete -F {} {}\n", function_name(tool), tool.name);
}

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
    if (option.letter) return fmt::format("    '(-{0} --{1})'{{-{0},--{1}}}{2} \\\n", option.letter, option.name, shell_quoted(meaning));
    return fmt::format("    {} \\\n", shell_quoted(fmt::format("{}--{}{}{}{}", option.repeatable ? "*" : "", option.name, equals, meaning,
                                                               zsh_values(option))));
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

std::string zsh_completion(const ToolDescription& tool) {
    std::string text = fmt::format("#compdef {}\n{}", tool.name, head(tool, "#"));
    text += "local context state state_descr line\ntypeset -A opt_args\n_arguments -S \\\n";
    for (const OptionDescription& option : visible_options(tool)) text += zsh_option(option);
    if (tool.commands.empty()) return text + "    && return\n";
    return text + "    '1:command:->command' \\\n    '*:word:->word' && return\n" + zsh_words(tool);
}

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

std::string fish_completion(const ToolDescription& tool) {
    std::string text = head(tool, "#") + fmt::format("complete -c {} -f\n", tool.name);
    for (const CommandDescription& command : tool.commands) {
        text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", tool.name, command.name, fish_quoted(command.help));
        if (command.completion == Completion::file)
            text += fmt::format("complete -c {} -n {} -F\n", tool.name, fish_quoted("__fish_seen_subcommand_from " + command.name));
    }
    for (const OptionDescription& option : visible_options(tool)) text += fish_option(tool, option);
    return text;
}

}  // namespace

std::string shell_completion(const ToolDescription& tool, std::string_view shell) {
    if (shell == "bash") return bash_completion(tool);
    if (shell == "zsh") return zsh_completion(tool);
    if (shell == "fish") return fish_completion(tool);
    throw std::logic_error(fmt::format("no completion for {}", shell));
}

}  // namespace tmm
