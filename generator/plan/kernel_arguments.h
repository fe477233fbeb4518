// The arguments that all kernels of a plan have in common (templates/tmm/vocabulary/args.h), and where a step's part of the matrices
// begins. What a kernel is told beyond them is written by its family or step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "generator/plan/launch_plan.h"

namespace tmm {

std::int64_t k_per_split(const GemmProblem& problem, const KernelConfig& config);

// Elements from a matrix's start to the part of it that belongs to an extent.
std::int64_t offset_a(const GemmProblem& problem, const Extent& extent);
std::int64_t offset_b(const GemmProblem& problem, const Extent& extent);
std::int64_t offset_c(const GemmProblem& problem, const Extent& extent);

// The place so many bytes further on.
std::byte* at(void* workspace, std::int64_t offset);
// The place so many elements further on. Null pointers, which are allowed where nothing is read, stay null.
const void* advanced(const void* pointer, std::int64_t elements, ElementType type);

// The arguments of a step that reads A and B as the problem says.
GemmArgs make_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call);
// Adds the place where the step leaves sums for another step to add up.
GemmArgs with_partials(GemmArgs args, const LaunchStep& step, const GemmCall& call);

// The arguments of a step that adds up what others have left.
GemmArgs sum_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call);

// Writes a kernel's argument struct; returns its size.
template <class Args>
std::size_t write_arguments(const Args& args, std::byte* arguments) {
    static_assert(sizeof args <= kMaxArgumentBytes);
    std::memcpy(arguments, &args, sizeof args);
    return sizeof args;
}

// LaunchStep::bind of products that read A and B as the problem says, and are told nothing else.
std::size_t bind_product(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
