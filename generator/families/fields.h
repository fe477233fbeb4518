// Sets of a config's fields: which of them a family uses, and whether a config leaves all others alone.
#pragma once

#include "tmm/vocabulary/config.h"

namespace tmm {

// One bit stands for each row of kParameters.
using FieldSet = unsigned long long;
static_assert(kParameterCount <= 64);

template <class... Members>
constexpr FieldSet fields(Members... members) {
    FieldSet set = 0;
    for (int i = 0; i < kParameterCount; ++i)
        if ((... || (kParameters[i].member == members))) set |= FieldSet{1} << i;
    return set;
}

// The first field with a value that no config of the family may have: outside of what the field may hold, or not neutral where the family
// does not use the field. Null where there is none. Nothing else is computed of a config before this is known.
constexpr const Parameter* misused_field(const KernelConfig& c, FieldSet used) {
    for (int i = 0; i < kParameterCount; ++i) {
        const Parameter& parameter = kParameters[i];
        const int value = c.*parameter.member;
        const bool is_used = (used >> i & 1) != 0;
        if (is_used ? value < least_value(parameter) || value > most_value(parameter) : value != parameter.neutral) return &parameter;
        if (parameter.value_names && !has_name(parameter, value)) return &parameter;
    }
    return nullptr;
}

}  // namespace tmm
