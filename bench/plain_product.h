// A problem without its epilogue.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

inline GemmProblem plain_product(GemmProblem problem) {
    problem.bias = BiasAxis::none;
    problem.activation = Activation::none;
    problem.residual = false;
    problem.epilogue = Epilogue::none;
    problem.type_bias = ElementType::f32;
    problem.ldr = problem.stride_r = 0;
    return problem;
}

}  // namespace tmm::bench
