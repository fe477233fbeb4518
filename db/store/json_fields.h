// Pieces that every JSON of the tools has in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tmm/vocabulary/config.h"

namespace tmm {

using Json = nlohmann::ordered_json;

// Every field of kParameters under its name.
Json config_json(const KernelConfig& config);
// JSON has no infinity, and no number for what is unknown: both are null.
Json number_json(double value, bool known = true);
// {"device": "NVIDIA H200", "compute_capability": 90, "sm_count": 132}
Json device_json(const std::string& name, int compute_capability, int sm_count);
// The text ends with a line break; bytes that are no UTF-8 are replaced.
std::string json_text(const Json& json);

}  // namespace tmm
