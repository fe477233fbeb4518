// Column-major products in the row-major vocabulary.
#pragma once

#include <utility>

#include "tmm/vocabulary/problem.h"

namespace tmm {

// Column-major C = op(A) op(B) is row-major C^T = op(B)^T op(A)^T over the same memory: A and B change places, m and n too.
inline GemmProblem as_row_major(GemmProblem p) {
    std::swap(p.m, p.n);
    std::swap(p.type_a, p.type_b);
    std::swap(p.op_a, p.op_b);
    std::swap(p.lda, p.ldb);
    std::swap(p.stride_a, p.stride_b);
    // What was a column of C is a row of C^T.
    p.activation = across(p.activation);
    if (p.bias != BiasAxis::none) p.bias = p.bias == BiasAxis::columns ? BiasAxis::rows : BiasAxis::columns;
    return p;
}

}  // namespace tmm
