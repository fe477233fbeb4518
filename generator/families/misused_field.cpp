#include "generator/families/misused_field.h"

#include <fmt/core.h>

#include "generator/families/family.h"

namespace tmm {

std::optional<MisusedField> find_misused_field(const KernelConfig& config) {
    const Parameter* const field = misused_field(config);
    if (!field) return std::nullopt;
    const int value = config.*field->member, least = least_value(*field), most = most_value(*field);
    if (value < least || value > most)
        return MisusedField{field, fmt::format("{}={} is not within {} to {}", field->name, value, least, most)};
    if (field->value_names && !has_name(*field, value))
        return MisusedField{field, fmt::format("{}={} is none of its values", field->name, value)};
    const auto text = [&](int of) { return field->value_names ? std::string(field->value_names[of]) : std::to_string(of); };
    return MisusedField{field, fmt::format("{} does not use {}: it is {}, not {}", kFamilyNames[config.family], field->name,
                                           text(field->neutral), text(value))};
}

}  // namespace tmm
