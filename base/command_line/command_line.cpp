#include "base/command_line/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "base/text/nearest_name.h"
#include "base/text/printable.h"

namespace tmm {
namespace {

// The name that one letter makes of it, else the only name that it begins, else the nearest name of similar letters.
std::optional<std::string_view> meant(std::string_view name, const std::vector<std::string_view>& names) {
    const auto nearest = nearest_name(name, names);
    if (nearest && edit_distance(name, *nearest) <= 1) return nearest;
    std::vector<std::string_view> longer;
    std::ranges::copy_if(names, std::back_inserter(longer), [&](std::string_view known) { return known.starts_with(name); });
    return name.size() > 1 && longer.size() == 1 ? longer.front() : nearest;
}

std::string list(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string quoted_list(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + in_quotes(names[i]);
    return text;
}

}  // namespace

CommandLine::CommandLine(const ToolDescription& tool, const std::vector<std::string>& arguments)
    : tool_(&tool), options_(all_options(tool)) {
    for (std::size_t i = 0; i < arguments.size();) {
        const std::string& argument = arguments[i];
        if (argument == "--") {
            words_.insert(words_.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
            break;
        }
        if (argument.starts_with("--")) {
            i += read_option(arguments, i);
        } else if (argument.starts_with("-") && argument.size() > 1) {
            i += read_letter(arguments, i);
        } else {
            words_.push_back(argument);
            ++i;
        }
    }
    if (std::ranges::any_of(options_, [&](const OptionDescription& option) { return option.alone && has(option.name); })) {
        if (!words_.empty() && find_command(tool, words_.front())) command_ = words_.front();
        return;
    }
    check_command();
    check_options();
}

void CommandLine::fail(const std::string& what, const std::string& where, const std::string& remedy) const {
    throw Error(ExitStatus::usage, what, where,
                remedy.empty() ? fmt::format("see {} --help", find_command(*tool_, command_) ? tool_->name + " " + command_ : tool_->name)
                               : remedy);
}

const OptionDescription& CommandLine::find_option(std::string_view name) const {
    const auto found = std::ranges::find_if(options_, [&](const OptionDescription& option) { return name == option.name; });
    if (found == options_.end()) fail_unknown(name, fmt::format("--{}", name));
    return *found;
}

void CommandLine::fail_unknown(std::string_view name, const std::string& written) const {
    std::vector<std::string_view> names;
    for (const OptionDescription& option : options_)
        if (!option.hidden) names.emplace_back(option.name);
    const auto near = meant(name, names);
    fail(fmt::format("there is no option {}", in_quotes(written)), {}, near ? fmt::format("did you mean --{}?", *near) : "");
}

void CommandLine::store(const OptionDescription& option, const std::string& value) {
    const std::string written = "--" + option.name;
    std::vector<std::string>& values = given_[option.name];
    if (!values.empty() && !option.repeatable) fail(fmt::format("{} is given twice", written), {}, "give it once");
    if (!option.value.empty() && value.empty())
        fail("its value is empty", written, fmt::format("give {} {}, or leave the option out", written, option.value));
    if (!option.choices.empty() && std::ranges::find(option.choices, value) == option.choices.end()) {
        const auto near = meant(value, {option.choices.begin(), option.choices.end()});
        fail(fmt::format("{} is not one of its values", in_quotes(value)), written,
             fmt::format("{}one of {}", near ? fmt::format("did you mean {}? ", *near) : "", list(option.choices)));
    }
    values.push_back(value);
}

std::size_t CommandLine::store_with_value(const OptionDescription& option, const std::vector<std::string>& arguments, std::size_t i) {
    if (option.value.empty()) {
        store(option, {});
        return 1;
    }
    // What begins with two dashes is the next option, not a value; --label=--text says it all the same.
    if (i + 1 == arguments.size() || (arguments[i + 1].starts_with("--")))
        fail("its value is missing", "--" + option.name, fmt::format("write --{} {}", option.name, option.value));
    store(option, arguments[i + 1]);
    return 2;
}

std::size_t CommandLine::read_option(const std::vector<std::string>& arguments, std::size_t i) {
    const std::string& argument = arguments[i];
    const std::size_t equals = argument.find('=');
    const OptionDescription& option = find_option(argument.substr(2, equals == std::string::npos ? equals : equals - 2));
    if (equals == std::string::npos) return store_with_value(option, arguments, i);
    if (option.value.empty()) fail("it takes no value", "--" + option.name, fmt::format("write --{} alone", option.name));
    store(option, argument.substr(equals + 1));
    return 1;
}

std::size_t CommandLine::read_letter(const std::vector<std::string>& arguments, std::size_t i) {
    const std::string& argument = arguments[i];
    const auto found = std::ranges::find_if(
        options_, [&](const OptionDescription& option) { return argument.size() == 2 && option.letter == argument[1]; });
    // A single dash before a long name suggests that name.
    if (found == options_.end()) fail_unknown(argument.substr(1, argument.find('=') - 1), argument);
    return store_with_value(*found, arguments, i);
}

void CommandLine::check_command() {
    if (std::ranges::find(words_, "") != words_.end()) fail("an argument is empty");
    if (tool_->commands.empty()) {
        if (!words_.empty()) fail(fmt::format("{} belongs to no option", in_quotes(words_.front())));
        return;
    }
    std::vector<std::string> names;
    for (const CommandDescription& command : tool_->commands) names.push_back(command.name);
    if (words_.empty()) fail("the command is missing", {}, "one of " + list(names));
    command_ = words_.front();
    words_.erase(words_.begin());
    const CommandDescription* found = find_command(*tool_, command_);
    if (!found) {
        const auto near = command_ == "help" ? std::optional<std::string_view>("--help") : meant(command_, {names.begin(), names.end()});
        fail(fmt::format("there is no command {}", in_quotes(command_)), {},
             near ? fmt::format("did you mean {}?", *near) : "the commands are " + list(names));
    }
    if (words_.size() < found->least_words) fail(fmt::format("{} needs {}", in_quotes(command_), found->needs));
    if (words_.size() > found->most_words)
        fail(fmt::format("{} does not take {}", in_quotes(command_), in_quotes(words_[found->most_words])));
}

void CommandLine::check_options() const {
    for (const OptionDescription& option : options_) {
        const bool belongs = belongs_to(option, command_);
        if (!belongs && has(option.name))
            fail(fmt::format("{} does not take --{}", in_quotes(command_), option.name), {},
                 fmt::format("it belongs to {}", quoted_list(option.commands)));
        const bool is_required = !option.required.empty() && (option.unless.empty() || !has(option.unless));
        if (belongs && is_required && !has(option.name)) fail(fmt::format("--{} is missing", option.name), {}, option.required);
    }
}

const OptionDescription& CommandLine::known(std::string_view option) const {
    const auto found = std::ranges::find_if(options_, [&](const OptionDescription& known) { return known.name == option; });
    if (found == options_.end()) throw std::logic_error(fmt::format("{} has no row for --{}", tool_->name, option));
    return *found;
}

bool CommandLine::has(std::string_view option) const {
    return given_.find(known(option).name) != given_.end();
}

std::string CommandLine::text(std::string_view option) const {
    const auto found = given_.find(known(option).name);
    return found != given_.end() ? found->second.back() : known(option).default_value;
}

std::vector<std::string> CommandLine::values(std::string_view option) const {
    const auto found = given_.find(known(option).name);
    return found != given_.end() ? found->second : std::vector<std::string>();
}

std::int64_t CommandLine::whole_number(std::string_view option, std::int64_t least, std::int64_t most) const {
    const std::string given = text(option);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error != std::errc() || end != given.data() + given.size() || value < least || value > most)
        fail(fmt::format("{} is not a whole number from {} to {}", in_quotes(given), least, most), spelling(known(option)));
    return value;
}

double CommandLine::number(std::string_view option, double least, double most) const {
    const std::string given = text(option);
    double value = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    // The condition is written so that NaN is refused, too.
    if (error != std::errc() || end != given.data() + given.size() || !(value >= least && value <= most))
        fail(fmt::format("{} is not a number from {:.10g} to {:.10g}", in_quotes(given), least, most), spelling(known(option)));
    return value;
}

}  // namespace tmm
