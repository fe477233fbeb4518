// Where a call's matrices and the parts of its workspace begin, and the arguments that all kernels of a plan have in common
// (templates/tmm/vocabulary/args.h). What a kernel is told beyond them is written by its family or step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "generator/steps/launch_step.h"
#include "tmm/vocabulary/args.h"

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
Addresses addresses_of(const Schedule& schedule, const GemmCall& call, const Extent& part);

// Elements from a matrix's start to the part of it that belongs to an extent.
std::int64_t offset_a(const GemmProblem& problem, const Extent& extent);
std::int64_t offset_b(const GemmProblem& problem, const Extent& extent);
std::int64_t offset_c(const GemmProblem& problem, const Extent& extent);

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

// What a call gives to an epilogue of the problem.
EpilogueArgs epilogue_args(const GemmProblem& problem, const GemmCall& call);

// The arguments of a kernel that reads A and B as the problem says.
GemmArgs make_args(const Schedule& schedule, const Extent& part, const GemmCall& call, const Division& division);
// The arguments of the plan's main kernel, which reads A and B as the steps before it have left them, and leaves partial results where the
// steps behind it find them.
GemmArgs product_args(const Schedule& schedule, const GemmCall& call);
// The arguments of a kernel that adds up partial results.
GemmArgs sum_args(const Schedule& schedule, const GemmCall& call, const Division& division);

// Writes a kernel's argument struct; returns its size.
template <class Args>
std::size_t write_arguments(const Args& args, std::byte* arguments) {
    static_assert(sizeof args <= kMaxArgumentBytes);
    std::memcpy(arguments, &args, sizeof args);
    return sizeof args;
}

// LaunchStep::bind of main kernels that are told nothing else, and of the kernels of the parts of C that these leave.
std::size_t bind_product(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments);
std::size_t bind_strip(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments);

}  // namespace tmm
