// What GPUs were measured to do at most: the roofs of the report's rooflines.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tmm {

// The row of ceilings.json for the device of this name, as the driver spells it; null where none was measured.
nlohmann::json known_ceilings(const std::string& device);

}  // namespace tmm
