// The one spelling by which problems of different promises of alignment are compared.
#pragma once

#include <algorithm>

#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// The problem with the largest alignment that asks no more of pointers than the given one does: rows whose leading dimension
// is odd are unaligned whatever their first element is. Equal demands then have equal keys.
constexpr GemmProblem with_alignment(GemmProblem problem, int alignment) {
    // A pointer to larger elements is aligned to them whatever the promise about all three is.
    const int element = std::min({size_of(problem.type_a), size_of(problem.type_b), size_of(problem.type_c)});
    problem.alignment = std::clamp(alignment, element, 16);
    while (problem.alignment < 16) {
        GemmProblem wider = problem;
        wider.alignment *= 2;
        if (signature_of(wider) != signature_of(problem)) break;
        problem = wider;
    }
    return problem;
}

}  // namespace tmm
