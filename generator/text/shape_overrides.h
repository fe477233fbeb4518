// --set key=value, in every tool that takes shapes.
#pragma once

#include <string>
#include <vector>

#include "generator/text/shapes_file.h"

namespace tmm {

// Throws Error (usage) where one is not key=value or a key comes twice; whether there is such a key is the shapes file's to say.
ShapeOverrides parse_overrides(const std::vector<std::string>& settings);

}  // namespace tmm
