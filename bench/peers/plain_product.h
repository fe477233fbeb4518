// A problem without its epilogue, as a library computes it that multiplies only.
#pragma once

#include "generator/problem/problem_forms.h"
#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

// A gate's product has twice the columns of C, or twice its rows, and lies in memory of its own. Its rows are padded to a multiple of 16
// bytes of any type.
constexpr void lay_out_product_of_gate(GemmProblem& problem) {
    constexpr i64 multiple = 8;
    problem.ldc = (problem.n + multiple - 1) / multiple * multiple;
    problem.stride_c = problem.batch > 1 ? problem.m * problem.ldc : 0;
}

constexpr GemmProblem plain_product(GemmProblem problem) {
    if (is_gate(problem.activation)) lay_out_product_of_gate(problem);
    return without_epilogue(problem);
}

}  // namespace tmm::bench
