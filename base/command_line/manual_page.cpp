#include "base/command_line/manual_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/command_line/tool_help.h"
#include "base/text/environment.h"

namespace tmm {
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
