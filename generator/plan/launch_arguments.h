// What the kernels of a plan are told: the functions behind LaunchStep's pointers, one a kind of step, and where they find the operands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "generator/plan/launch_plan.h"
#include "tmm/steps/planes/rules.h"

namespace tmm {

std::int64_t k_per_split(const GemmProblem& problem, const KernelConfig& config);

// Elements from a matrix's start to the part of it that belongs to an extent.
std::int64_t offset_a(const GemmProblem& problem, const Extent& extent);
std::int64_t offset_b(const GemmProblem& problem, const Extent& extent);
std::int64_t offset_c(const GemmProblem& problem, const Extent& extent);

// The problem as those see it who find the operands where a pad step has left them. config: wgmma's.
GemmProblem padded_problem(const GemmProblem& problem, const KernelConfig& config);

struct PlanesOperands {
    planes::Operand a;
    planes::Operand b;
};
// config: the plan's own.
PlanesOperands planes_operands(const GemmProblem& problem, const KernelConfig& config);

// The functions for LaunchStep::bind.
std::size_t bind_pack(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);
std::size_t bind_pad(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);
std::size_t bind_planes(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);
std::size_t bind_product(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);
std::size_t bind_wgmma(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);
std::size_t bind_simt_tma(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);
std::size_t bind_skinny(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);
std::size_t bind_rescue(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);
// The function for reduce and fixup.
std::size_t bind_sum_of_parts(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);

// The functions for LaunchStep's other pointers.
std::size_t bind_preparation(const LaunchStep& step, const GemmProblem& problem, const Preparation& preparation, std::byte* arguments);
std::int64_t busy_blocks(const LaunchStep& step, const std::byte* arguments);

}  // namespace tmm
