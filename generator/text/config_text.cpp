// How a config is written and read: "wgmma 128x256x64 w2 s4 c2x1", by the tokens of kParameters.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text/nearest_name.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

constexpr const char* kExample = "write it like 'simt 128x64x16 t8x4 s3', or family=simt,block_m=128,…";

using Group = std::vector<const Parameter*>;

// The fields of each token, in the order in which tokens are written.
const std::vector<Group>& token_groups() {
    static const auto* groups = [] {
        std::vector<Group> sorted;
        for (const Parameter& parameter : kParameters) {
            const auto place = static_cast<std::size_t>(parameter.token.place);
            if (sorted.size() <= place) sorted.resize(place + 1);
            sorted[place].push_back(&parameter);
        }
        for (Group& group : sorted)
            std::sort(group.begin(), group.end(), [](const auto* a, const auto* b) { return a->token.part < b->token.part; });
        return new std::vector<Group>(std::move(sorted));
    }();
    return *groups;
}

// The names of an enumerator's values, in the order of their numbers.
std::vector<std::string_view> names_of_values(const Parameter& parameter) {
    std::vector<std::string_view> names;
    for (int value = 0; value < parameter.value_count; ++value)
        if (has_name(parameter, value)) names.emplace_back(parameter.value_names[value]);
    return names;
}

std::optional<int> find_value(const Parameter& parameter, std::string_view name) {
    for (int value = 0; value < parameter.value_count; ++value)
        if (has_name(parameter, value) && name == parameter.value_names[value]) return value;
    return std::nullopt;
}

std::string value_text(const Parameter& parameter, int value) {
    return has_name(parameter, value) ? parameter.value_names[value] : std::to_string(value);
}

std::string field_text(const Parameter& parameter, int value) {
    return fmt::format("{}={}", parameter.name, value_text(parameter, value));
}

std::string token_text(const Group& group, const KernelConfig& config) {
    const Parameter& first = *group.front();
    if (!first.token.word) {
        const int value = config.*first.member;
        return has_name(first, value) ? first.value_names[value] : field_text(first, value);
    }
    std::vector<int> numbers;
    for (const Parameter* parameter : group) numbers.push_back(config.*parameter->member);
    while (first.token.drops_one && !numbers.empty() && numbers.back() == 1) numbers.pop_back();
    return fmt::format("{}{}", first.token.word, fmt::join(numbers, "x"));
}

std::optional<int> parse_int(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

int parse_number(const Parameter& parameter, std::string_view text) {
    const auto value = parse_int(text);
    const int least = least_value(parameter), most = most_value(parameter);
    if (!value || *value < least || *value > most)
        throw Error(ExitStatus::usage, fmt::format("{}: '{}' is not a whole number from {} to {}", parameter.name, text, least, most), {},
                    parameter.help);
    return *value;
}

int parse_value(const Parameter& parameter, std::string_view text) {
    if (!parameter.value_names) return parse_number(parameter, text);
    if (const auto value = find_value(parameter, text)) return *value;
    throw Error(ExitStatus::usage, fmt::format("{}: '{}' is not one of its values", parameter.name, text), {},
                fmt::format("one of {}", fmt::join(names_of_values(parameter), ", ")));
}

// Everything that may stand in a config, for "did you mean".
std::vector<std::string_view> known_words() {
    std::vector<std::string_view> words;
    for (const Parameter& parameter : kParameters) {
        words.emplace_back(parameter.name);
        const auto names = names_of_values(parameter);
        words.insert(words.end(), names.begin(), names.end());
        if (parameter.token.word && parameter.token.part == 0) words.emplace_back(parameter.token.word);
    }
    return words;
}

[[noreturn]] void fail_unknown(std::string_view token, std::string_view word) {
    const auto nearest = nearest_name(word, known_words());
    throw Error(ExitStatus::usage, fmt::format("a config has no field '{}'", token), {},
                nearest && !nearest->empty() ? fmt::format("did you mean {}?", *nearest) : kExample);
}

class Parser {
public:
    void read(std::string_view token) {
        const auto equals = token.find('=');
        if (equals != std::string_view::npos) return read_field(token.substr(0, equals), token.substr(equals + 1));
        if (read_name(token)) return;
        const auto digit = std::min(token.find_first_of("0123456789"), token.size());
        read_numbers(token, token.substr(0, digit), token.substr(digit));
    }

    KernelConfig config() {
        for (std::size_t i = 0; i < kParameterCount; ++i)
            if (!seen_[i]) config_.*kParameters[i].member = unwritten_value(kParameters[i], config_.family);
        return config_;
    }

private:
    void set(const Parameter& parameter, int value) {
        bool& seen = seen_[&parameter - kParameters];
        if (seen) throw Error(ExitStatus::usage, fmt::format("{} is given twice in a config", parameter.name));
        seen = true;
        config_.*parameter.member = value;
    }

    void read_field(std::string_view name, std::string_view value) {
        const auto* found = std::find_if(std::begin(kParameters), std::end(kParameters), [&](const auto& p) { return name == p.name; });
        if (found == std::end(kParameters)) fail_unknown(name, name);
        set(*found, parse_value(*found, value));
    }

    // Reads a token such as "simt" or "guarded".
    bool read_name(std::string_view token) {
        for (const Parameter& parameter : kParameters) {
            if (parameter.token.word) continue;
            const auto value = find_value(parameter, token);
            if (!value) continue;
            set(parameter, *value);
            return true;
        }
        return false;
    }

    // Reads a token such as "128x64x16", "t8x4" or "swap".
    void read_numbers(std::string_view token, std::string_view word, std::string_view numbers) {
        const auto& groups = token_groups();
        const auto group = std::find_if(groups.begin(), groups.end(),
                                        [&](const Group& g) { return g.front()->token.word && word == g.front()->token.word; });
        if (group == groups.end()) fail_unknown(token, word);
        const bool drops_one = group->front()->token.drops_one;
        if (numbers.empty() && !drops_one)
            throw Error(ExitStatus::usage, fmt::format("'{}' in a config lacks its number", token), {}, group->front()->help);
        std::string_view rest = numbers;
        for (std::size_t i = 0; i < group->size(); ++i) {
            const auto x = rest.find('x');
            const bool more = x != std::string_view::npos;
            if (more && i + 1 == group->size())
                throw Error(ExitStatus::usage, fmt::format("'{}' in a config has too many numbers", token), {}, group->front()->help);
            const bool left_out = i == 0 ? numbers.empty() : rest.data() == nullptr;
            set(*(*group)[i], left_out ? 1 : parse_number(*(*group)[i], rest.substr(0, x)));
            rest = more ? rest.substr(x + 1) : std::string_view();
        }
    }

    KernelConfig config_;
    bool seen_[kParameterCount] = {};
};

// How help shows a token: "t8x4", "boundary's name".
std::string token_help(const Group& group) {
    const Token& token = group.front()->token;
    if (!token.word) return "its name";
    if (token.drops_one) return group.size() == 1 ? token.word : fmt::format("{}2x1, {}2", token.word, token.word);
    std::string numbers;
    for (std::size_t i = 0; i < group.size(); ++i) numbers += i ? "xN" : "N";
    return token.word + numbers;
}

}  // namespace

std::string to_text(const KernelConfig& config) {
    std::string text;
    for (const Group& group : token_groups()) {
        const bool named = std::any_of(group.begin(), group.end(), [&](const Parameter* parameter) {
            return parameter->member == &KernelConfig::family || config.*parameter->member != unwritten_value(*parameter, config.family);
        });
        if (named) text += (text.empty() ? "" : " ") + token_text(group, config);
    }
    return text;
}

std::string fields_text(const KernelConfig& config) {
    std::string text = field_text(kParameters[0], config.family);
    for (const Parameter& parameter : kParameters)
        if (parameter.member != &KernelConfig::family && config.*parameter.member != parameter.neutral)
            text += "," + field_text(parameter, config.*parameter.member);
    return text;
}

KernelConfig parse_config(std::string_view text) {
    constexpr std::string_view kSeparators = " ,\t";
    Parser parser;
    bool empty = true;
    for (auto begin = text.find_first_not_of(kSeparators); begin != std::string_view::npos;
         begin = text.find_first_not_of(kSeparators, begin)) {
        const auto end = std::min(text.find_first_of(kSeparators, begin), text.size());
        parser.read(text.substr(begin, end - begin));
        begin = end;
        empty = false;
    }
    if (empty) throw Error(ExitStatus::usage, "the config is empty", {}, kExample);
    return parser.config();
}

std::string with_short_configs(std::string_view text) {
    constexpr std::string_view kBegin = "family=";
    std::string out;
    for (auto begin = text.find(kBegin); begin != std::string_view::npos; begin = text.find(kBegin)) {
        auto end = std::min(text.find_first_of(" ();:", begin), text.size());
        while (end > begin && (text[end - 1] == ',' || text[end - 1] == '.')) --end;
        out += text.substr(0, begin);
        const std::string_view config = text.substr(begin, end - begin);
        try {
            out += to_text(parse_config(config));
        } catch (const Error&) {
            out += config;
        }
        text.remove_prefix(end);
    }
    return out.append(text);
}

std::vector<ConfigFieldHelp> config_field_help() {
    std::vector<ConfigFieldHelp> fields;
    for (const Group& group : token_groups()) {
        for (const Parameter* parameter : group) {
            ConfigFieldHelp field{
                .name = parameter->name, .token = parameter == group.front() ? token_help(group) : "", .help = parameter->help};
            if (parameter->value_names) field.help += fmt::format(": {}", fmt::join(names_of_values(*parameter), ", "));
            fields.push_back(std::move(field));
        }
    }
    return fields;
}

}  // namespace tmm
