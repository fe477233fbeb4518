#include "generator/text/tool_help.h"

#include <fmt/format.h>

#include "generator/text/environment.h"
#include "generator/text/wrapped_text.h"

namespace tmm {
namespace {

constexpr std::size_t kWidth = 80;

std::string usage(const ToolDescription& tool) {
    std::string text;
    for (const std::string& form : tool.synopsis) {
        const std::string start = fmt::format("{}{} ", text.empty() ? "Usage: " : "       ", tool.name);
        text += start + wrapped(form, kWidth, start.size()).substr(start.size());
    }
    return text;
}

std::string commands(const ToolDescription& tool) {
    std::vector<Term> terms;
    for (const CommandDescription& command : tool.commands)
        terms.push_back({command.name + (command.words.empty() ? "" : " " + command.words), command.help});
    return terms.empty() ? "" : "\nCommands:\n" + two_columns(terms, kWidth);
}

std::string options(const ToolDescription& tool) {
    std::vector<Term> terms;
    for (const OptionDescription& option : all_options(tool))
        if (!option.hidden) terms.push_back({(option.letter ? "" : "    ") + spelling(option), meaning_of(option)});
    return "\nOptions:\n" + two_columns(terms, kWidth);
}

std::string environment(const ToolDescription& tool) {
    std::vector<Term> terms;
    for (const std::string& name : tool.environment) terms.push_back({name, environment_variable(name).help});
    return terms.empty() ? "" : "\nEnvironment:\n" + two_columns(terms, kWidth);
}

std::string exit_statuses(const ToolDescription& tool) {
    std::vector<Term> terms;
    for (const ExitDescription& exit : tool.exit_statuses)
        terms.push_back({fmt::format("{:>3}", static_cast<int>(exit.status)), exit.help});
    return "\nExit status:\n" + two_columns(terms, kWidth);
}

std::string examples(const ToolDescription& tool) {
    std::string text;
    for (const ExampleDescription& example : tool.examples)
        text += fmt::format("  {}\n{}", example.command, wrapped(example.help, kWidth, 6));
    return text.empty() ? "" : "\nExamples:\n" + text;
}

}  // namespace

std::string meaning_of(const OptionDescription& option) {
    std::string text = option.help;
    if (!option.choices.empty()) text += fmt::format("; one of {}", fmt::join(option.choices, ", "));
    if (option.repeatable) text += "; may be repeated";
    if (!option.default_value.empty()) text += fmt::format(" (default: {})", option.default_value);
    if (!option.commands.empty()) text += fmt::format(" [{}]", fmt::join(option.commands, ", "));
    return text;
}

std::string help_text(const ToolDescription& tool) {
    std::string text = usage(tool);
    for (const std::string& paragraph : tool.description) text += "\n" + wrapped(paragraph, kWidth);
    text += commands(tool) + options(tool);
    for (const SectionDescription& section : tool.sections) {
        std::vector<Term> terms;
        for (const SectionDescription::Row& row : section.rows) terms.push_back({row.term, row.help});
        text += fmt::format("\n{}:\n{}", section.title, two_columns(terms, kWidth));
    }
    return text + exit_statuses(tool) + environment(tool) + examples(tool);
}

}  // namespace tmm
