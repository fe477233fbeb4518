#include "base/command_line/tool_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tmm {

std::string spelling(const OptionDescription& option) {
    return fmt::format("{}--{}{}{}", option.letter ? fmt::format("-{}, ", option.letter) : "", option.name, option.value.empty() ? "" : " ",
                       option.value);
}

const CommandDescription* find_command(const ToolDescription& tool, std::string_view name) {
    const auto found = std::ranges::find_if(tool.commands, [&](const CommandDescription& command) { return command.name == name; });
    return found == tool.commands.end() ? nullptr : &*found;
}

bool belongs_to(const OptionDescription& option, std::string_view command) {
    return option.commands.empty() || std::ranges::find(option.commands, command) != option.commands.end();
}

std::vector<OptionDescription> common_options() {
    return {{.name = "help", .letter = 'h', .help = "print this text", .alone = true},
            {.name = "version", .help = "print the version", .alone = true},
            {.name = "print-man", .help = "print the manual page", .hidden = true, .alone = true},
            {.name = "print-completion",
             .value = "SHELL",
             .help = "print the completion of a shell",
             .choices = {"bash", "zsh", "fish"},
             .hidden = true,
             .alone = true}};
}

std::vector<OptionDescription> all_options(const ToolDescription& tool) {
    std::vector<OptionDescription> options = tool.options;
    std::ranges::move(common_options(), std::back_inserter(options));
    return options;
}

std::vector<ExitDescription> usual_exit_statuses(const std::vector<ExitStatus>& statuses) {
    const std::vector<ExitDescription> known = {{ExitStatus::done, "done"},
                                                {ExitStatus::usage, "wrong usage"},
                                                {ExitStatus::bad_input, "a bad input file"},
                                                {ExitStatus::no_device, "no such device, or no driver"},
                                                {ExitStatus::no_compiler, "the compiler is missing"},
                                                {ExitStatus::database, "the database can't be used"},
                                                {ExitStatus::no_winner, "some problem has no verified winner"},
                                                {ExitStatus::interrupted, "interrupted"}};
    std::vector<ExitDescription> found;
    std::ranges::copy_if(known, std::back_inserter(found),
                         [&](const ExitDescription& exit) { return std::ranges::find(statuses, exit.status) != statuses.end(); });
    return found;
}

std::string tool_version() {
    return TMM_VERSION_TEXT;
}

}  // namespace tmm
