// A problem that ends with its sums.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm {

// C stays where the problem has it: with a gate, whose product has twice its columns or rows, the caller says where those go.
constexpr GemmProblem without_epilogue(GemmProblem problem) {
    problem.bias = BiasAxis::none;
    problem.activation = Activation::none;
    problem.residual = false;
    problem.epilogue = Epilogue::none;
    problem.type_bias = ElementType::f32;
    problem.ldr = problem.stride_r = 0;
    return problem;
}

}  // namespace tmm
