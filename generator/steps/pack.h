// The step that copies operands to where simt reads them best (templates/tmm/steps/pack), and what its product is told of them.
#pragma once

#include <cstddef>

#include "generator/plan/launch_plan.h"
#include "tmm/steps/pack/rules.h"

namespace tmm {

// The arguments of a product that finds the operands where a pack step has left them.
GemmArgs with_packed_operands(GemmArgs args, const LaunchStep& step, const GemmProblem& problem, const GemmCall& call);

// The counters stand in the workspace, behind the packed operands.
unsigned* counters_of_packers(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call);

// The strip of columns of C that is multiplied while A is packed, or that of rows, multiplied while B is. Its few lines stand behind the
// product's part of the other operand.
PackedStrip packed_strip(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, bool with_a);

std::size_t bind_pack(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
