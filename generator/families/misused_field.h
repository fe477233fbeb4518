// What every door asks of a config before anything is computed from it: text, databases, imports and plans alike.
#pragma once

#include <optional>
#include <string>

#include "tmm/vocabulary/config.h"

namespace tmm {

struct MisusedField {
    const Parameter* field;
    // The reason in words: "simt does not use planes: it is 1, not 2".
    std::string why;
};

// The first field whose value the config's family has no use for; nothing where there is none. Any numbers may stand in the config.
std::optional<MisusedField> find_misused_field(const KernelConfig& config);

}  // namespace tmm
