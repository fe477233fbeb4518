// Helpers for the tests of which kernel serves a problem: configs that any device takes, and words for problems.
#pragma once

#include <string>

#include "generator/text/shapes_file.h"
#include "tmm/vocabulary/problem.h"

namespace selection_testing {

inline constexpr const char* kTiled8 = "tiled 8x8x8";
inline constexpr const char* kTiled16 = "tiled 16x16x16";
// This config needs workspace for its partial sums.
inline constexpr const char* kSplit3 = "simt 32x32x8 t4x4 s2 v4 peeled split3";

inline tmm::GemmProblem shape(const std::string& text) {
    return tmm::parse_shape(text).problem;
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace selection_testing
