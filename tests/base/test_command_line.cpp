// Tests how a command line is read by its table, and what is said of a faulty one.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/command_line/command_line.h"
#include "base/command_line/tool_help.h"
#include "base/text/text_width.h"

using namespace tmm;

namespace {

ToolDescription fruit_tool() {
    return {.name = "fruit",
            .summary = "sort fruit",
            .synopsis = {"--basket FILE [options]"},
            .description = {"Sorts fruit."},
            .options = {{.name = "basket", .value = "FILE", .help = "the basket", .required = "name one"},
                        {.name = "colour", .value = "HOW", .help = "of which colour", .default_value = "red", .choices = {"red", "green"}},
                        {.name = "count", .value = "N", .help = "how many", .default_value = "3"},
                        {.name = "kind", .value = "KIND", .help = "which kinds", .repeatable = true},
                        {.name = "peel", .help = "peel it"},
                        {.name = "serve", .value = "N", .help = "serve", .hidden = true, .alone = true}},
            .exit_statuses = usual_exit_statuses({ExitStatus::done, ExitStatus::usage}),
            .environment = {}};
}

ToolDescription cook_tool() {
    return {.name = "cook",
            .summary = "cook fruit",
            .synopsis = {"COMMAND"},
            .description = {"Cooks fruit."},
            .commands = {{.name = "boil", .help = "boil it"},
                         {.name = "mix",
                          .words = "A B",
                          .help = "mix two",
                          .least_words = 2,
                          .most_words = 2,
                          .details = "Two fruits are enough.",
                          .needs = "two fruits"}},
            .options = {{.name = "salt", .help = "with salt", .commands = {"boil"}},
                        {.name = "oven", .value = "NAME", .help = "where", .commands = {"boil", "mix"}}},
            .exit_statuses = usual_exit_statuses({ExitStatus::done, ExitStatus::usage}),
            .environment = {},
            .examples = {{"cook mix apple pear", "Mixes both."}, {"cook boil", "Boils."}}};
}

std::string fault(const ToolDescription& tool, const std::vector<std::string>& arguments) {
    try {
        const CommandLine line(tool, arguments);
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::usage);
        return error.what();
    }
    return "(none)";
}

}  // namespace

TEST_CASE("values come behind a blank or an equals sign, switches alone, defaults from the table") {
    const ToolDescription tool = fruit_tool();
    const CommandLine line(tool, {"--basket", "a b", "--colour=green", "--kind=x", "--kind", "y=z", "--peel"});
    CHECK(line.text("basket") == "a b");
    CHECK(line.text("colour") == "green");
    CHECK(line.values("kind") == std::vector<std::string>{"x", "y=z"});
    CHECK(line.has("peel"));
    CHECK_FALSE(line.has("count"));
    CHECK(line.text("count") == "3");
    CHECK(line.whole_number("count", 1, 5) == 3);
    // A dash alone is a value, as for standard input, and so is a negative number.
    CHECK(CommandLine(tool, {"--basket", "-"}).text("basket") == "-");
    CHECK(CommandLine(tool, {"--basket", "x", "--count", "-4"}).number("count", -5, 5) == -4);
    CHECK(CommandLine(tool, {"--basket=--peel"}).text("basket") == "--peel");
    CHECK_THROWS_AS((void)line.has("no-such-row"), std::logic_error);
}

TEST_CASE("each fault of an option says which one and what to do") {
    const ToolDescription tool = fruit_tool();
    CHECK(fault(tool, {"--baskte", "x"}) == "there is no option '--baskte'; did you mean --basket?");
    CHECK(fault(tool, {"--bask=x"}) == "there is no option '--bask'; did you mean --basket?");
    CHECK(fault(tool, {"-peel"}) == "there is no option '-peel'; did you mean --peel?");
    CHECK(fault(tool, {"-x"}) == "there is no option '-x'; see fruit --help");
    CHECK(fault(tool, {"--zzzzzzzz"}) == "there is no option '--zzzzzzzz'; see fruit --help");
    // An option that is not in the help is not suggested.
    CHECK(fault(tool, {"--serv", "1"}) == "there is no option '--serv'; see fruit --help");
    CHECK(fault(tool, {"--basket"}) == "--basket: its value is missing; write --basket FILE");
    CHECK(fault(tool, {"--basket", "--peel"}) == "--basket: its value is missing; write --basket FILE");
    CHECK(fault(tool, {"--basket", ""}) == "--basket: its value is empty; give --basket FILE, or leave the option out");
    CHECK(fault(tool, {"--basket="}) == "--basket: its value is empty; give --basket FILE, or leave the option out");
    CHECK(fault(tool, {"--basket", "a", "--basket", "a"}) == "--basket is given twice; give it once");
    CHECK(fault(tool, {"--basket", "a", "--peel", "--peel"}) == "--peel is given twice; give it once");
    CHECK(fault(tool, {"--basket", "a", "--peel=yes"}) == "--peel: it takes no value; write --peel alone");
    CHECK(fault(tool, {"--colour", "blue"}) == "--colour: 'blue' is not one of its values; one of red, green");
    CHECK(fault(tool, {"--colour", "gren"}) == "--colour: 'gren' is not one of its values; did you mean green? one of red, green");
    CHECK(fault(tool, {"--peel"}) == "--basket is missing; name one");
    CHECK(fault(tool, {"--basket", "a", "more"}) == "'more' belongs to no option; see fruit --help");
    CHECK(fault(tool, {"--basket", "a", "--", "--peel"}) == "'--peel' belongs to no option; see fruit --help");
    CHECK(fault(tool, {"--basket", "a", ""}) == "an argument is empty; see fruit --help");
}

TEST_CASE("numbers are whole texts within their range") {
    const ToolDescription tool = fruit_tool();
    for (const char* text : {"", "0", "6", "2x", "x", " 2", "2.0", "99999999999999999999", "nan"}) {
        CAPTURE(text);
        if (*text == '\0') continue;
        const CommandLine line(tool, {"--basket", "a", "--count", text});
        CHECK_THROWS_AS((void)line.whole_number("count", 1, 5), Error);
    }
    for (const char* text : {"0.5", "nan", "inf", "1e999", "2.5s", "-2", "0x2"}) {
        CAPTURE(text);
        const CommandLine line(tool, {"--basket", "a", "--count", text});
        CHECK_THROWS_AS((void)line.number("count", 1, 5), Error);
    }
    CHECK(CommandLine(tool, {"--basket", "a", "--count", "2.5e0"}).number("count", 1, 5) == 2.5);
    CHECK_THROWS_WITH(CommandLine(tool, {"--basket", "a", "--count", "9"}).whole_number("count", 1, 5),
                      "--count N: '9' is not a whole number from 1 to 5; see fruit --help");
    CHECK_THROWS_WITH(CommandLine(tool, {"--basket", "a", "--count", "9"}).number("count", 0.5, 1e9 * 0 + 5),
                      "--count N: '9' is not a number from 0.5 to 5; see fruit --help");
}

TEST_CASE("what stands alone asks for nothing else") {
    const ToolDescription tool = fruit_tool();
    CHECK(CommandLine(tool, {"-h"}).has("help"));
    CHECK(CommandLine(tool, {"more", "--help"}).has("help"));
    CHECK(CommandLine(tool, {"--serve", "-1"}).whole_number("serve", -1, 9) == -1);
    const ToolDescription cook = cook_tool();
    CHECK(CommandLine(cook, {"--version"}).has("version"));
}

TEST_CASE("commands take their words and their options, wherever these stand") {
    const ToolDescription tool = cook_tool();
    const CommandLine line(tool, {"--oven", "big", "mix", "apple", "--", "--pear"});
    CHECK(line.command() == "mix");
    CHECK(line.words() == std::vector<std::string>{"apple", "--pear"});
    CHECK(line.text("oven") == "big");
    CHECK(fault(tool, {}) == "the command is missing; one of boil, mix");
    CHECK(fault(tool, {"boyl"}) == "there is no command 'boyl'; did you mean boil?");
    CHECK(fault(tool, {"zzzzzz"}) == "there is no command 'zzzzzz'; the commands are boil, mix");
    CHECK(fault(tool, {"help"}) == "there is no command 'help'; did you mean --help?");
    CHECK(fault(tool, {"boil", "more"}) == "'boil' does not take 'more'; see cook boil --help");
    CHECK(fault(tool, {"mix", "one"}) == "'mix' needs two fruits; see cook mix --help");
    CHECK(fault(tool, {"mix", "a", "b", "c"}) == "'mix' does not take 'c'; see cook mix --help");
    CHECK(fault(tool, {"mix", "a", "b", "--salt"}) == "'mix' does not take --salt; it belongs to 'boil'");
    CHECK(fault(tool, {"bo\x1bil"}) == "there is no command 'bo\\x1bil'; did you mean boil?");
}

TEST_CASE("help shows what is for users, with defaults and choices") {
    const std::string help = help_text(fruit_tool());
    CHECK(help.starts_with("Usage: fruit --basket FILE [options]\n"));
    CHECK(help.find("--colour HOW   of which colour; one of red, green (default: red)\n") != std::string::npos);
    CHECK(help.find("  -h, --help") != std::string::npos);
    CHECK(help.find("serve") == std::string::npos);
}

TEST_CASE("a command's help shows its own options, details and examples alone") {
    const ToolDescription tool = cook_tool();
    CHECK(CommandLine(tool, {"mix", "--help"}).command() == "mix");
    CHECK(CommandLine(tool, {"fry", "--help"}).command().empty());
    CHECK(command_help(tool, *find_command(tool, "mix")) ==
          "Usage: cook mix A B [options]\n\nMix two.\n\nTwo fruits are enough.\n\nOptions:\n"
          "      --oven NAME  where\n  -h, --help       print this text\n      --version    print the version\n\n"
          "Examples:\n  cook mix apple pear\n      Mixes both.\n\n"
          "'cook --help' lists all commands and exit statuses.\n");
    const std::string all = help_text(tool);
    CHECK(all.find("[boil, mix]") == std::string::npos);
    CHECK(all.find("--salt       with salt [boil]\n") != std::string::npos);
}

TEST_CASE("text is broken between words, and a column a character") {
    CHECK(wrapped("aa bb cc", 5) == "aa bb\ncc\n");
    CHECK(wrapped("aa bb cc", 7, 2) == "  aa bb\n  cc\n");
    CHECK(wrapped("µµ µµ x", 5) == "µµ µµ\nx\n");
    CHECK(wrapped("longerthanall x", 5) == "longerthanall\nx\n");
    CHECK(wrapped("", 5) == "\n");
    CHECK(columns("µs…") == 3);
    CHECK(two_columns({{"a", "one two"}, {"bcd", "x"}}, 12) == "  a    one\n       two\n  bcd  x\n");
    CHECK(two_columns({{"a", "x"}, {"muchlonger", "y"}}, 12) == "  a  x\n  muchlonger\n     y\n");
}
