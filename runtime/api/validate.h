// The door of the C interface: checks every argument, gives each fault its own status, and turns what is left into the
// row-major vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>

#include "generator/plan/launch_plan.h"
#include "generator/problem/problem_forms.h"
#include "runtime/plan/status_error.h"
#include "runtime/select/plan_request.h"
#include "tmm/tmm.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// A problem turned row-major, spelled as with_alignment does. A column-major product is the row-major product of the transposes: B plays
// A's part.
struct CheckedProblem {
    PlanRequest request;
    bool swapped = false;
};

struct CheckedArgs {
    // a, b and alpha, beta as the row-major problem takes them.
    GemmCall call;
    // Bytes of call.workspace; of no meaning where that is null.
    std::size_t workspace_size = 0;
};

// The alignment of the result is the promise, cut to what kernels use: from the smallest element's size to 16. Throws StatusError.
CheckedProblem check_problem(const tmmGemmProblem_t* problem);
// Throws StatusError where the problem is none of one product, whose matrices may lie in host memory.
void check_host_problem(const CheckedProblem& checked);
// Throws StatusError.
CheckedArgs check_args(const CheckedProblem& checked, const tmmGemmArgs_t* args);

// Throws StatusError where C shares memory with what the call reads.
void check_overlap(const CheckedProblem& checked, const CheckedArgs& args);
// Throws StatusError (workspace too small).
void check_workspace_size(std::size_t size, std::size_t needed);

// The operand of the row-major problem. Throws StatusError.
GemmOperand check_operand(const CheckedProblem& checked, tmmOperand_t operand);
// Throws StatusError, but not for a null prepared, which a plan without anything to prepare allows.
Preparation check_preparation(const CheckedProblem& checked, tmmOperand_t operand, const void* matrix, void* prepared);
// Throws StatusError (null, or too small).
void check_prepared_size(const void* prepared, std::size_t size, std::size_t needed);

// The largest power of two up to 16 that divides a, b, c and the residual; everything divides null.
int alignment_of(const GemmProblem& problem, const GemmCall& call);

}  // namespace tmm
