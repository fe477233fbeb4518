// What a call does, step by step: computed from problem, config and device alone, so that what is measured is what ships.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "generator/kernel/expression.h"
#include "generator/machine/device_info.h"
#include "generator/plan/epilogue_place.h"
#include "generator/plan/geometry.h"
#include "generator/plan/tensor_map_request.h"
#include "generator/steps/step.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// The values of one call: device pointers, and scalars in double (exact for every compute type).
struct GemmCall {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    const void* bias = nullptr;
    const void* residual = nullptr;
    void* workspace = nullptr;
    double alpha = 1;
    double beta = 0;
    // p0 to p3 of an expression.
    float parameters[4] = {};
    // Operands that a Preparation has split before, with the same content; null: the call splits them itself. They are only read.
    const void* prepared_a = nullptr;
    const void* prepared_b = nullptr;
};

enum class GemmOperand { a, b };

// Splits an operand ahead of the calls that multiply it.
struct Preparation {
    GemmOperand operand = GemmOperand::a;
    const void* matrix = nullptr;
    // The address is a multiple of 256 bytes, with room for prepared_bytes().
    void* prepared = nullptr;
};

struct LaunchPlan;

struct LaunchStep {
    KernelSignature signature;
    PlanKernel kernel;
    Extent extent;
    std::int64_t grid = 1;
    int threads = 1;
    int cluster = 1;
    std::int64_t shared_bytes = 0;
    // The blocks walk over the work: any number of whole clusters does it.
    bool walks = false;
    // The kernel may begin while the step before it ends, for which it waits itself, strips at their end; the first one of a call only
    // where the plan's config has overlap = 1.
    bool begins_early = false;
    // The first blocks of the grid pack: the others wait for what they pack.
    int packers = 0;
    // The first blocks of the grid add up strips.
    int blocks_for_strips = 0;
    // It applies the epilogue to sums that the steps before it have made.
    bool finishes_sums = false;
    // Writes the kernel's argument struct for one call; returns its size in bytes, which is never more than kMaxArgumentBytes. Where alpha
    // or k is 0 it tells the kernel k = 0 and alpha = 0.
    std::size_t (*bind)(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments) = nullptr;
    // The same for a preparation. It is null for the steps that take no part in one.
    std::size_t (*bind_preparation)(const LaunchPlan& plan, const LaunchStep& step, const Preparation& preparation,
                                    std::byte* arguments) = nullptr;
    // How many blocks of the grid the bound arguments give work to. Null: all blocks have work.
    std::int64_t (*busy_blocks)(const LaunchStep& step, const std::byte* arguments) = nullptr;
    // The tensor maps that the bound arguments still lack, none of operands that the call does not read. It is null for kernels without
    // TMA.
    TensorMapRequests (*tensor_maps)(const LaunchStep& step, const std::byte* arguments) = nullptr;
};

// The config of a step that multiplies; null for a step around a product.
inline const KernelConfig* config_of(const LaunchStep& step) {
    return std::get_if<KernelConfig>(&step.kernel);
}

inline constexpr std::size_t kMaxArgumentBytes = 4096;

// A bound on workspace that binds nothing.
inline constexpr std::int64_t kAnyWorkspace = std::numeric_limits<std::int64_t>::max();

// The grid to launch the step with, given its bound arguments; 0: it is left out.
inline std::int64_t grid_for(const LaunchStep& step, const std::byte* arguments) {
    return step.busy_blocks ? step.busy_blocks(step, arguments) : step.grid;
}

struct LaunchPlan {
    GemmProblem problem;
    // What the steps multiply: the problem, but for an epilogue that a step applies (finishing_step.h).
    GemmProblem product;
    KernelConfig config;
    Geometry geometry;
    // The plan has no steps where there is nothing to do (m or n or batch is 0).
    std::vector<LaunchStep> steps;
    // Workspace pointers must be multiples of 256 bytes.
    std::int64_t workspace_bytes = 0;
    // The epilogue of a problem with Epilogue::custom.
    Expression expression = {};
};

// Writes the arguments of one of the plan's steps (LaunchStep::bind).
std::size_t bind_step(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);

// The step that multiplies, beside those that bring the operands to it or sum its parts; 0 where there are no steps.
std::size_t main_step(const LaunchPlan& plan);

// What the plan's main kernel sees: where the config packs operands, they lie otherwise than the problem says.
KernelSignature main_signature(const GemmProblem& problem, const KernelConfig& config);

// What a preparation of the operand fills; 0 where the plan does not split it.
std::int64_t prepared_bytes(const LaunchPlan& plan, GemmOperand operand);

struct EdgeProduct {
    KernelSignature signature;
    KernelConfig config;
    Extent extent;
};
// The kernels of the parts of C that the main kernel leaves.
std::vector<EdgeProduct> edge_products(const GemmProblem& problem, const Tiling& tiling);

// The config must be valid for the problem (search_space.h).
LaunchPlan make_launch_plan(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, Expression expression = {},
                            EpiloguePlace place = EpiloguePlace::kernel);

// How much of K the longest of the parts has that are multiplied apart, and the longest chain of additions when they are added up, which is
// 0 where there is one part.
std::int64_t depth_of_parts(const GemmProblem& problem, const KernelConfig& config);
std::int64_t longest_sum_of_parts(const GemmProblem& problem, const KernelConfig& config);

// Blocks of the kernel that adds up the parts of K that are multiplied apart; 0 where there is none.
std::int64_t blocks_that_add_parts(const GemmProblem& problem, const KernelConfig& config);

// The longest chain of roundings that an element of C goes through: c of the design's bound |error| <= (c + 2) u (...).
std::int64_t longest_rounding_chain(const GemmProblem& problem, const KernelConfig& config);

}  // namespace tmm
