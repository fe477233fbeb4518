#include "base/command_line/tool_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text/environment.h"
#include "base/text/text_width.h"

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

namespace {

// A code point of well-formed UTF-8 that begins at i, which moves to its last byte.
unsigned code_point(const std::string& text, std::size_t& i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    unsigned value = lead & (0x3fu >> more);
    for (int k = 0; k < more && i + 1 < text.size(); ++k) value = value << 6 | (static_cast<unsigned char>(text[++i]) & 0x3fu);
    return value;
}

// Makes every character stand on paper as it is: roff takes some of ASCII for others.
std::string roff(const std::string& text) {
    std::string escaped;
    for (std::size_t i = 0; i < text.size(); ++i) {
        switch (text[i]) {
            case '\\': escaped += "\\e"; break;
            case '-': escaped += "\\-"; break;
            case '\'': escaped += "\\(aq"; break;
            case '`': escaped += "\\(ga"; break;
            case '^': escaped += "\\(ha"; break;
            case '~': escaped += "\\(ti"; break;
            case '"': escaped += "\\(dq"; break;
            default:
                if (static_cast<unsigned char>(text[i]) < 0x80)
                    escaped += text[i];
                else
                    escaped += fmt::format("\\[u{:04X}]", code_point(text, i));
        }
    }
    // A dot at the beginning of a line would make it a request.
    return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    return text;
}

std::string heading(const std::string& text) {
    return fmt::format(".SH {}\n", roff(upper(text)));
}

// A term in bold, with what follows it in italics, and its meaning below.
std::string entry(const std::string& term, const std::string& variable, const std::string& meaning) {
    return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(term), variable.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(variable)),
                       roff(meaning));
}

std::string synopsis(const ToolDescription& tool) {
    std::string text = heading("Synopsis");
    for (std::size_t i = 0; i < tool.synopsis.size(); ++i)
        text += fmt::format("{}\\fB{}\\fR {}\n", i == 0 ? "" : ".br\n", roff(tool.name), roff(tool.synopsis[i]));
    return text;
}

std::string option_entries(const ToolDescription& tool) {
    std::string text = heading("Options");
    for (const OptionDescription& option : all_options(tool)) {
        if (option.hidden) continue;
        text += entry((option.letter ? fmt::format("-{}, --", option.letter) : "--") + option.name, option.value, meaning_of(option, tool));
    }
    return text;
}

std::string other_tools(const ToolDescription& tool) {
    std::string text;
    for (const char* name : {"tmm-bench", "tmm-db", "tmm-gen", "tmm-tune"})
        if (tool.name != name) text += fmt::format("{}\\fB{}\\fR(1)", text.empty() ? "" : ",\n", roff(name));
    return heading("See also") + text + "\n";
}

}  // namespace

std::string manual_page(const ToolDescription& tool) {
    std::string text = fmt::format(".TH {} 1 \"\" \"tmm {}\" \"User Commands\"\n", roff(upper(tool.name)), tool_version());
    text += heading("Name") + fmt::format("{} \\- {}\n", roff(tool.name), roff(tool.summary)) + synopsis(tool);
    text += heading("Description");
    for (std::size_t i = 0; i < tool.description.size(); ++i) text += (i == 0 ? "" : ".PP\n") + roff(tool.description[i]) + "\n";
    if (!tool.commands.empty()) text += heading("Commands");
    for (const CommandDescription& command : tool.commands) text += entry(command.name, command.words, command.help);
    text += option_entries(tool);
    for (const SectionDescription& section : tool.sections) {
        text += heading(section.title);
        for (const SectionDescription::Row& row : section.rows) text += entry(row.term, {}, row.help);
    }
    text += heading("Exit status");
    for (const ExitDescription& exit : tool.exit_statuses) text += entry(std::to_string(static_cast<int>(exit.status)), {}, exit.help);
    if (!tool.environment.empty()) text += heading("Environment");
    for (const std::string& name : tool.environment) text += entry(name, {}, environment_variable(name).help);
    if (!tool.examples.empty()) text += heading("Examples");
    for (const ExampleDescription& example : tool.examples) text += entry(example.command, {}, example.help);
    return text + other_tools(tool);
}

}  // namespace tmm
