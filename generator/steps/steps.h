// The steps around a product: each adds itself to a plan.
#pragma once

#include "generator/steps/launch_step.h"
#include "tmm/steps/pack/strips.h"

namespace tmm {

OperandCopies packed_copies(const GemmProblem& problem, const KernelConfig& config, const Extent& main);

// What the product is told of the blocks that pack for its other blocks, and of those that add up strips.
PackersArgs packers_args(const Schedule& schedule, const GemmCall& call);
StripsArgs strips_args(const Schedule& schedule, const GemmCall& call);

void add_pack(StepList& list);

// The step that copies operands to where their rows are aligned (templates/tmm/steps/pad).

// The problem as those see it who find the operands where a pad step has left them. config: wgmma's.
GemmProblem padded_problem(const GemmProblem& problem, const KernelConfig& config);
OperandCopies padded_copies(const GemmProblem& problem, const KernelConfig& config);

void add_pad(StepList& list);

// The step that writes floats as sums of 16-bit numbers (templates/tmm/steps/planes), and where the product finds them.

struct PlanesOperands {
    planes::Operand a;
    planes::Operand b;
};
// config: the plan's own.
PlanesOperands planes_operands(const GemmProblem& problem, const KernelConfig& config);
OperandCopies planes_copies(const GemmProblem& problem, const KernelConfig& config);

struct SplitOperands {
    PlanesOperand a;
    PlanesOperand b;
    UnfitMarks unfit_a;
    UnfitMarks unfit_b;
};
// Where the product finds the operands: each is prepared, or in its part of the workspace.
SplitOperands split_operands(const Schedule& schedule, const GemmCall& call);

void add_planes(StepList& list);

// The step that multiplies by FMAs where planes did not fit (templates/tmm/steps/rescue).

void add_rescue(StepList& list);

// The step that adds up the parts of the tiles that stream-K's blocks have shared (templates/tmm/steps/fixup).

void add_fixup(StepList& list);

// The step that adds up the parts of K that split-K has multiplied apart (templates/tmm/steps/reduce).

// How so many partial results of each element of a batch are added up.
Reduce reduce_for(const Extent& extent, std::int64_t batch, int parts);
// … a schedule's.
Reduce reduce_for(const Schedule& schedule);

void add_reduce(StepList& list);

// The step that applies an epilogue to whole sums (templates/tmm/steps/finishing).

// How the blocks divide a batch of such matrices on a device of so many SMs.
Finishing finishing_for(const Extent& extent, std::int64_t batch, const KernelSignature& signature, int sms);

// Can a step apply the problem's epilogue? Sums are floats, and a grid has an end.
bool step_can_finish(const GemmProblem& problem);

// What the step adds to the time of the product.
double microseconds_of_finish(const Schedule& schedule, const DeviceInfo& device);

// Adds the step behind the sums that schedule.finished tells of: one of its own, or the one that adds up parts of K.
void add_finish(StepList& list);

// A call as the steps before that one see it.
GemmCall product_call(const Schedule& schedule, const GemmCall& call);

// The step that copies the lower triangle of C to the upper one (templates/tmm/steps/mirror).

double microseconds_of_mirror(const Schedule& schedule, const DeviceInfo& device);

void add_mirror(StepList& list);

}  // namespace tmm
