// The arguments that all kernels of a plan have in common (templates/tmm/vocabulary/args.h). What a kernel is told beyond them is written
// by its family or step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "generator/plan/addresses.h"
#include "generator/plan/launch_plan.h"

namespace tmm {

// How a kernel's blocks divide the work.
struct Division {
    // Parts of K, and the depth of each but the last.
    int split_k = 1;
    std::int64_t k_per_split = 0;
    int raster = 0;
    PhaseLine line{};
};
// The division of a kernel that takes all of K at once.
Division undivided(const GemmProblem& problem);
Division division_of(const GemmProblem& problem, const KernelConfig& config);

// The arguments of a kernel that reads A and B as the problem says.
// What a call gives to an epilogue of the problem.
EpilogueArgs epilogue_args(const GemmProblem& problem, const GemmCall& call);

GemmArgs make_args(const LaunchPlan& plan, const Extent& part, const GemmCall& call, const Division& division);
// The arguments of the plan's main kernel, which reads A and B as the steps before it have left them, and leaves partial results where the
// steps behind it find them.
GemmArgs product_args(const LaunchPlan& plan, const GemmCall& call);
// The arguments of a kernel that adds up partial results.
GemmArgs sum_args(const LaunchPlan& plan, const GemmCall& call, const Division& division);
// Does the main kernel leave partial results?
bool leaves_partials(const Geometry& geometry);

// Writes a kernel's argument struct; returns its size.
template <class Args>
std::size_t write_arguments(const Args& args, std::byte* arguments) {
    static_assert(sizeof args <= kMaxArgumentBytes);
    std::memcpy(arguments, &args, sizeof args);
    return sizeof args;
}

// LaunchStep::bind of main kernels that are told nothing else, and of the kernels of the parts of C that these leave.
std::size_t bind_product(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);
std::size_t bind_strip(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
