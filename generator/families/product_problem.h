// What a config's kernels multiply: the problem, or, where a step finishes its sums, a plain product. A gate takes two columns of the
// product that stand half of the columns apart (Activation::swiglu), or two rows (swiglu_rows): kernels that multiply both by one block
// apply it themselves; all others leave the product's sums in the workspace for a step that does. So does any kernel where the epilogue's
// place is a step.
#pragma once

#include "generator/schedule/schedule.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Does a step apply the problem's gate? The config breaks no rule of its family's.
bool gate_is_a_step(const GemmProblem& problem, const KernelConfig& config);

// Does a step see to it that one triangle of C alone is written? Other kernels leave the other one alone themselves.
bool triangle_is_a_step(const GemmProblem& problem, const KernelConfig& config);

// Does a step finish the sums of the config's product?
bool has_finishing_step(const GemmProblem& problem, const KernelConfig& config, EpiloguePlace place);

// Where a step finishes the sums these are floats: in C, where it holds floats and no gate makes one of two, else in the workspace.
GemmProblem product_problem(const GemmProblem& problem, const KernelConfig& config, EpiloguePlace place = EpiloguePlace::kernel);

// The sums that the step finds, but for where they stand in the workspace; there are no parts where no step finishes any. product:
// product_problem().
FinishedSums finished_sums(const GemmProblem& problem, const GemmProblem& product, const KernelConfig& config, EpiloguePlace place);

// What the main kernel of a plan sees that multiplies such a product (Schedule::signature), and of the config's plan for a problem.
KernelSignature signature_of_product(const GemmProblem& product, const KernelConfig& config);
KernelSignature main_signature(const GemmProblem& problem, const KernelConfig& config);

}  // namespace tmm
