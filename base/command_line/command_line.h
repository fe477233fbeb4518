// A tool's command line, read by its table of options. Every fault is an Error (usage) of one form in all tools.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/command_line/tool_description.h"

namespace tmm {

class CommandLine {
public:
    // "--name value", "--name=value", "-h", and words; after "--" all are words. Throws Error (usage) for an option that there is not, is
    // given twice, has no value, an empty one or none of its choices, or belongs to another command; for a command that there is not and
    // for too few or too many words; and where a required option is missing. The table must outlive it.
    CommandLine(const ToolDescription& tool, const std::vector<std::string>& arguments);

    const ToolDescription& tool() const { return *tool_; }
    // The command is empty where the tool has no commands, and may be where an option such as --help stands alone.
    const std::string& command() const { return command_; }
    // What follows the command.
    const std::vector<std::string>& words() const { return words_; }

    // These throw std::logic_error for a name that is not in the table.
    bool has(std::string_view option) const;
    // Gives the value that was given, else the default, else nothing.
    std::string text(std::string_view option) const;
    // Every value of a repeatable option.
    std::vector<std::string> values(std::string_view option) const;
    // Throw Error (usage) where the text is no such number, or outside of the range.
    std::int64_t whole_number(std::string_view option, std::int64_t least, std::int64_t most) const;
    double number(std::string_view option, double least, double most) const;

private:
    const OptionDescription& known(std::string_view option) const;
    const OptionDescription& find_option(std::string_view name) const;
    [[noreturn]] void fail_unknown(std::string_view name, const std::string& written) const;
    // Both return how many arguments they took.
    std::size_t read_option(const std::vector<std::string>& arguments, std::size_t i);
    std::size_t read_letter(const std::vector<std::string>& arguments, std::size_t i);
    void store(const OptionDescription& option, const std::string& value);
    std::size_t store_with_value(const OptionDescription& option, const std::vector<std::string>& arguments, std::size_t i);
    void check_command();
    void check_options() const;
    [[noreturn]] void fail(const std::string& what, const std::string& where = {}, const std::string& remedy = {}) const;

    const ToolDescription* tool_;
    std::vector<OptionDescription> options_;
    std::map<std::string, std::vector<std::string>, std::less<>> given_;
    std::string command_;
    std::vector<std::string> words_;
};

}  // namespace tmm
