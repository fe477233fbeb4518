// One call of the C interface, for tests that change it in one place.
#pragma once

#include <vector>

#include "tests/support/api_testing.h"

namespace api_testing {

// A valid call, to be spoilt in one place.
struct Call {
    explicit Call(const Fixture& on)
        : a(on, std::vector<float>(64, 1.0f)), b(on, std::vector<float>(64, 1.0f)), c(on, std::vector<float>(64, 7.0f)) {
        tmmGemmProblemInit(&problem);
        problem.m = 4;
        problem.n = 5;
        problem.k = 6;
        problem.lda = 6;
        problem.ldb = 5;
        problem.ldc = 5;
        args.struct_size = sizeof args;
        args.alpha = &one;
        args.beta = &zero;
        args.a = a.data();
        args.b = b.data();
        args.c = c.data();
    }
    const float one = 1, zero = 0;
    OnDevice a, b, c;
    tmmGemmProblem_t problem;
    tmmGemmArgs_t args = {};
};

}  // namespace api_testing
