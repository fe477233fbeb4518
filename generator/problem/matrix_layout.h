// How the matrices of a problem lie in memory: how much of it they take, and whether two results share a place. Every door asks here, so
// that what one takes no other refuses.
#pragma once

#include <optional>

#include "tmm/vocabulary/problem.h"

namespace tmm {

// A batch of stored matrices: element (i, j) of member b stands b * stride + i * ld + j elements behind the first.
struct MatrixLayout {
    i64 rows = 0;
    // columns is at most ld.
    i64 columns = 0;
    i64 ld = 0;
    i64 stride = 0;
    i64 batch = 1;
    ElementType type = ElementType::f32;
};
// Where a batch's matrices stand anywhere it is the layout of one.
MatrixLayout layout_of_a(const GemmProblem& problem);
MatrixLayout layout_of_b(const GemmProblem& problem);
MatrixLayout layout_of_c(const GemmProblem& problem);
// The layout has no rows where the problem has no residual.
MatrixLayout layout_of_residual(const GemmProblem& problem);

// Has C no element, so that a call does nothing?
constexpr bool is_empty(const GemmProblem& problem) {
    return problem.m == 0 || problem.n == 0 || problem.batch == 0;
}

// How many elements C has, in all members of the batch; they may be more than an integer counts.
double elements_of_c(const GemmProblem& problem);

// Bytes from the first element to the end of the last, 0 where there is none; nothing where that, or a distance between rows or members, is
// no number of 63 bits when it is counted in bytes.
std::optional<i64> extent_in_bytes(const MatrixLayout& layout);

// Do two elements stand in one place? The answer is exact, whatever order rows and members of the batch lie in: one behind the other, side
// by side in common rows, or otherwise within each other. The layout's extent must be a number.
bool elements_overlap(const MatrixLayout& layout);

// Do an element of one matrix and one of the other share a byte? Matrices may lie within each other's rows. The answer is exact but for
// layouts with which it would take long: matrices that meet may then count as apart, as do those whose
// extent is no number.
bool matrices_meet(const void* x, const MatrixLayout& layout_of_x, const void* y, const MatrixLayout& layout_of_y);

}  // namespace tmm
