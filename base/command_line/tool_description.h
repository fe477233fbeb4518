// What a command-line tool is, in one table: the parser, --help, the manual page and the shells' completion are all made from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tmm {

// What a shell offers in the place of a value or of a command's words.
enum class Completion { nothing, file, directory };

// What becomes of a file that a value or a word names.
enum class FileUse { read, written, database };

struct OptionDescription {
    // The name without the dashes: "shapes" is written --shapes.
    std::string name;
    // The letter is -h beside --help.
    char letter = 0;
    // What stands for the value in help, such as FILE; empty where the option takes none.
    std::string value = {};
    std::string help;
    // What holds where the option is not given; empty where there is no such value.
    std::string default_value = {};
    // The only values that there are; empty: any.
    std::vector<std::string> choices = {};
    // Some of the values that there are, for the shells.
    std::vector<std::string> usual = {};
    Completion completion = Completion::nothing;
    FileUse file_use = FileUse::read;
    // The option may be given several times.
    bool repeatable = false;
    // What to do when the option is missing; it is empty unless the option must be given.
    std::string required = {};
    // The option in whose presence this one need not be given after all.
    std::string unless = {};
    // The commands that it belongs to; empty: all.
    std::vector<std::string> commands = {};
    // The option is shown in no help: it is for the tools themselves and for tests.
    bool hidden = false;
    // Where the option is given nothing else is asked for: --help and the like.
    bool alone = false;
};

struct CommandDescription {
    std::string name;
    // What follows the name, such as "A B"; empty: nothing.
    std::string words = {};
    std::string help;
    std::size_t least_words = 0;
    std::size_t most_words = 0;
    // A paragraph of the command's own help.
    std::string details = {};
    // "'show' needs " this.
    std::string needs = {};
    Completion completion = Completion::nothing;
    FileUse file_use = FileUse::read;
};

struct ExitDescription {
    ExitStatus status;
    std::string help;
};

struct ExampleDescription {
    std::string command;
    std::string help;
};

// A list with a heading, such as the fields of a config.
struct SectionDescription {
    std::string title;
    struct Row {
        std::string term;
        std::string help;
    };
    std::vector<Row> rows;
};

struct ToolDescription {
    std::string name;
    // One line, for the list of manual pages.
    std::string summary;
    // What follows the name in the usage line, a form each.
    std::vector<std::string> synopsis;
    // Paragraphs of the description.
    std::vector<std::string> description;
    std::vector<CommandDescription> commands = {};
    std::vector<OptionDescription> options;
    std::vector<SectionDescription> sections = {};
    std::vector<ExitDescription> exit_statuses;
    // Names of those that the tool reads; environment.h says what they mean.
    std::vector<std::string> environment;
    std::vector<ExampleDescription> examples = {};
};

// "--gpu WHICH", or "-h, --help".
std::string spelling(const OptionDescription& option);

// Null where the tool has no such command.
const CommandDescription* find_command(const ToolDescription& tool, std::string_view name);
// Whether the command takes the option.
bool belongs_to(const OptionDescription& option, std::string_view command);

// The options that every tool has: --help, --version, and what prints the manual page and the completions.
std::vector<OptionDescription> common_options();
// The tool's own options, then the common ones.
std::vector<OptionDescription> all_options(const ToolDescription& tool);
// What the statuses mean where a tool has nothing more precise to say: 0, 1, 2, 3, 4, 5, 6, 130.
std::vector<ExitDescription> usual_exit_statuses(const std::vector<ExitStatus>& statuses);

// "0.2.0".
std::string tool_version();

}  // namespace tmm
