// A function for bash's `complete`. It needs neither the package bash-completion nor a bash newer than 4.
#include <fmt/format.h>

#include <algorithm>

#include "base/command_line/completion.h"

namespace tmm::completion {
namespace {

// tmm-tune as a function's name.
std::string function_name(const ToolDescription& tool) {
    std::string name = "_" + tool.name;
    std::ranges::replace(name, '-', '_');
    return name;
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
        if (command.empty() || belongs_to(option, command)) names += (names.empty() ? "--" : " --") + option.name;
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

}  // namespace

std::string bash(const ToolDescription& tool) {
    std::string text = head(tool) + fmt::format(
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

}  // namespace tmm::completion
