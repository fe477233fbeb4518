#include "generator/text/config_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace tmm {
namespace {

// Where a kernel's name says a field otherwise than a config's short text.
struct OwnPart {
    int KernelConfig::*member;
    const char* word;
    int place;
};
constexpr OwnPart kOwnParts[] = {
    {&KernelConfig::cluster, "cluster", 8},
    {&KernelConfig::multicast_a, "multicast", 9},
    {&KernelConfig::multicast_b, "multicast", 9},
    {&KernelConfig::trim, "strip", 21},
};

OwnPart part_of(const Parameter& parameter) {
    for (const OwnPart& own : kOwnParts)
        if (own.member == parameter.member) return own;
    return {parameter.member, parameter.token.word, parameter.token.place};
}

// The fields that stand together in a name, by the order of their places; the family leads a name by itself.
const std::map<int, std::vector<const Parameter*>>& name_parts() {
    static const auto& parts = *[] {
        auto* by_place = new std::map<int, std::vector<const Parameter*>>();
        for (const Parameter& parameter : kParameters)
            if (parameter.member != &KernelConfig::family) (*by_place)[part_of(parameter).place].push_back(&parameter);
        return by_place;
    }();
    return parts;
}

}  // namespace

std::string joined_fields(const std::vector<std::string>& items) {
    std::string text;
    std::size_t line = 0;
    for (const std::string& item : items) {
        if (text.empty()) {
            line = 0;
        } else if (line + item.size() > 100) {
            text += ",\n        ";
            line = 0;
        } else {
            text += ", ";
        }
        text += item;
        line += item.size() + 2;
    }
    return text;
}

std::string config_fields(const KernelConfig& config) {
    std::vector<std::string> fields;
    for (const Parameter& parameter : kParameters) {
        const int value = config.*parameter.member;
        if (value == parameter.neutral && parameter.member != &KernelConfig::family) continue;
        if (parameter.value_names) {
            fields.push_back(fmt::format(".{0} = tmm::{0}::{1}", parameter.name, parameter.value_names[value]));
        } else {
            fields.push_back(fmt::format(".{} = {}", parameter.name, value));
        }
    }
    return joined_fields(fields);
}

std::string config_part_of_name(const KernelConfig& c) {
    std::string text;
    for (const auto& [place, fields] : name_parts()) {
        const Parameter& first = *fields.front();
        const int value = c.*first.member;
        if (first.value_names) {
            // How edges are met is always said.
            if (value != first.neutral || first.member == &KernelConfig::boundary) text += fmt::format("_{}", first.value_names[value]);
        } else if (first.member == &KernelConfig::split_k) {
            // The text depends on whether sums are partial, not on how many parts there are.
            if (c.split_k > c.cluster) text += fmt::format("_{}", first.token.word);
        } else if (std::any_of(fields.begin(), fields.end(), [&](const Parameter* field) { return c.*field->member != field->neutral; })) {
            text += fmt::format("_{}", part_of(first).word);
            if (fields.size() == 1 && first.token.drops_one && value == 1) continue;
            for (const Parameter* field : fields) text += fmt::format("{}{}", field == &first ? "" : "x", c.*field->member);
        }
    }
    return text;
}

}  // namespace tmm
