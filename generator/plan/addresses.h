// Where a call's matrices and the parts of its workspace begin: every address that a kernel is told comes from here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "generator/plan/launch_plan.h"

namespace tmm {

// The addresses of the batch's first member; the others follow it at the problem's strides.
struct Addresses {
    // Null pointers, which are allowed where nothing is read, stay null.
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    // What the steps before the product make of A and B: prepared, or in the workspace.
    void* copy_of_a = nullptr;
    void* copy_of_b = nullptr;
    unsigned* counters = nullptr;
    // Sums of the packed strips of columns and of rows.
    void* sums_of_columns = nullptr;
    void* sums_of_rows = nullptr;
    void* partials = nullptr;
};
// part: the part of C that a step computes; it reads these rows of op(A) and these columns of op(B).
Addresses addresses_of(const LaunchPlan& plan, const GemmCall& call, const Extent& part);

// Elements from a matrix's start to the part of it that belongs to an extent.
std::int64_t offset_a(const GemmProblem& problem, const Extent& extent);
std::int64_t offset_b(const GemmProblem& problem, const Extent& extent);
std::int64_t offset_c(const GemmProblem& problem, const Extent& extent);

}  // namespace tmm
