#include "base/command_line/tool_help.h"

#include <fmt/format.h>

#include <cctype>

#include "base/text/environment.h"
#include "base/text/wrapped_text.h"

namespace tmm {
namespace {

constexpr std::size_t kWidth = 80;

std::string usage(const std::string& name, const std::vector<std::string>& forms) {
    std::string text;
    for (const std::string& form : forms) {
        const std::string start = fmt::format("{}{} ", text.empty() ? "Usage: " : "       ", name);
        text += start + wrapped(form, kWidth, start.size()).substr(start.size());
    }
    return text;
}

std::string commands(const ToolDescription& tool) {
    std::vector<Term> terms;
    for (const CommandDescription& command : tool.commands)
        terms.push_back({command.name + (command.words.empty() ? "" : " " + command.words), command.help});
    if (terms.empty()) return "";
    return fmt::format("\nCommands (for the options of one: {} COMMAND --help):\n{}", tool.name, two_columns(terms, kWidth));
}

// What the option does, its values and its default.
std::string own_meaning(const OptionDescription& option) {
    std::string text = option.help;
    if (!option.choices.empty()) text += fmt::format("; one of {}", fmt::join(option.choices, ", "));
    if (option.repeatable) text += "; may be repeated";
    if (!option.default_value.empty()) text += fmt::format(" (default: {})", option.default_value);
    return text;
}

Term option_row(const OptionDescription& option, const std::string& meaning) {
    return {(option.letter ? "" : "    ") + spelling(option), meaning};
}

std::string options(const ToolDescription& tool) {
    std::vector<Term> terms;
    for (const OptionDescription& option : all_options(tool))
        if (!option.hidden) terms.push_back(option_row(option, meaning_of(option, tool)));
    return "\nOptions:\n" + two_columns(terms, kWidth);
}

std::string options(const ToolDescription& tool, const CommandDescription& command) {
    std::vector<Term> terms;
    for (const OptionDescription& option : all_options(tool))
        if (!option.hidden && belongs_to(option, command.name)) terms.push_back(option_row(option, own_meaning(option)));
    return "\nOptions:\n" + two_columns(terms, kWidth);
}

std::string environment(const ToolDescription& tool) {
    if (tool.environment.empty()) return "";
    std::vector<Term> terms;
    for (const std::string& name : tool.environment)
        if (environment_variable(name).everyday) terms.push_back({name, environment_variable(name).help});
    const std::size_t others = tool.environment.size() - terms.size();
    std::string text = "\nEnvironment:\n" + two_columns(terms, kWidth);
    if (others > 0)
        text += wrapped(fmt::format("'man {}' and docs/environment.md have {} more, seldom needed.", tool.name, others), kWidth, 2);
    return text;
}

std::string exit_statuses(const ToolDescription& tool) {
    std::vector<Term> terms;
    for (const ExitDescription& exit : tool.exit_statuses)
        terms.push_back({fmt::format("{:>3}", static_cast<int>(exit.status)), exit.help});
    return "\nExit status:\n" + two_columns(terms, kWidth);
}

// Those that begin so.
std::string examples(const ToolDescription& tool, const std::string& begin) {
    std::string text;
    for (const ExampleDescription& example : tool.examples)
        if (example.command.starts_with(begin)) text += fmt::format("  {}\n{}", example.command, wrapped(example.help, kWidth, 6));
    return text.empty() ? "" : "\nExamples:\n" + text;
}

std::string sentence(std::string text) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text + ".";
}

// "[ls, show]", or "[all but diff]" where that is shorter.
std::string commands_of(const OptionDescription& option, const ToolDescription& tool) {
    std::vector<std::string> others;
    for (const CommandDescription& command : tool.commands)
        if (!belongs_to(option, command.name)) others.push_back(command.name);
    const bool most = others.size() < option.commands.size();
    return fmt::format(" [{}{}]", most ? "all but " : "", fmt::join(most ? others : option.commands, ", "));
}

}  // namespace

std::string meaning_of(const OptionDescription& option, const ToolDescription& tool) {
    return own_meaning(option) + (option.commands.empty() ? "" : commands_of(option, tool));
}

std::string command_help(const ToolDescription& tool, const CommandDescription& command) {
    const std::string name = fmt::format("{} {}", tool.name, command.name);
    std::string form = command.words.empty() ? "" : command.words + " ";
    for (const OptionDescription& option : tool.options)
        if (!option.required.empty() && belongs_to(option, command.name)) form += spelling(option) + " ";
    std::string text = usage(name, {form + "[options]"});
    text += "\n" + wrapped(sentence(command.help), kWidth);
    if (!command.details.empty()) text += "\n" + wrapped(command.details, kWidth);
    text += options(tool, command) + examples(tool, name);
    return text + fmt::format("\n'{} --help' lists all commands and exit statuses.\n", tool.name);
}

std::string help_text(const ToolDescription& tool) {
    std::string text = usage(tool.name, tool.synopsis);
    for (const std::string& paragraph : tool.description) text += "\n" + wrapped(paragraph, kWidth);
    text += commands(tool) + options(tool);
    for (const SectionDescription& section : tool.sections) {
        std::vector<Term> terms;
        for (const SectionDescription::Row& row : section.rows) terms.push_back({row.term, row.help});
        text += fmt::format("\n{}:\n{}", section.title, two_columns(terms, kWidth));
    }
    return text + exit_statuses(tool) + environment(tool) + examples(tool, "");
}

}  // namespace tmm
