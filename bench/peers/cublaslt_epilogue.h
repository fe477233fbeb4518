// Which epilogues cuBLASLt has of its own, and how it is told them.
#pragma once

#include <cstdint>
#include <optional>

#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

// CUBLASLT_EPILOGUE_…, the same in CUDA 12 and 13.
inline constexpr std::uint32_t kLtEpilogueDefault = 1;
inline constexpr std::uint32_t kLtEpilogueRelu = 2;
inline constexpr std::uint32_t kLtEpilogueBias = 4;
inline constexpr std::uint32_t kLtEpilogueReluBias = 6;
inline constexpr std::uint32_t kLtEpilogueGelu = 32;
inline constexpr std::uint32_t kLtEpilogueGeluBias = 36;

struct LtEpilogue {
    std::uint32_t value = kLtEpilogueDefault;
    bool has_bias = false;
    ElementType type_bias = ElementType::f32;
    // The residual is the matrix C, beta is 1, and the result goes to another matrix.
    bool residual_as_c = false;
};

// Nothing where cuBLASLt has none that does the same: its gelu is the one by tanh, its bias has an element for each of our columns (its
// rows), and it adds C before the activation.
std::optional<LtEpilogue> own_epilogue(const GemmProblem& problem);

}  // namespace tmm::bench
