// What tests of which kernel serves a problem share: configs that any device takes, and words for problems.
#pragma once

#include <string>

#include "generator/shapes_file.h"
#include "tmm/problem.h"

namespace selection_testing {

inline constexpr const char* kTiled8 = "family=tiled,block_m=8,block_n=8,block_k=8";
inline constexpr const char* kTiled16 = "family=tiled,block_m=16,block_n=16,block_k=16";
// Needs workspace for its partial results.
inline constexpr const char* kSplit3 =
    "family=simt,block_m=32,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=2,vector_width=4,boundary=peeled,split_k=3";

inline tmm::GemmProblem shape(const std::string& text) {
    return tmm::parse_shape(text).problem;
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace selection_testing
