// A step of a plan: one kernel, how it is launched, and how a call's values become its arguments. Families and steps add theirs to a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"
#include "generator/steps/step.h"
#include "generator/steps/tensor_maps.h"
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
    // It finishes C behind the sums that the steps before it have made.
    bool finishes_sums = false;
    // Writes the kernel's argument struct for one call; returns its size in bytes, which is never more than kMaxArgumentBytes. Where alpha
    // or k is 0 it tells the kernel k = 0 and alpha = 0.
    std::size_t (*bind)(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments) = nullptr;
    // The same for a preparation. It is null for the steps that take no part in one.
    std::size_t (*bind_preparation)(const Schedule& schedule, const LaunchStep& step, const Preparation& preparation,
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

// The grid to launch the step with, given its bound arguments; 0: it is left out.
inline std::int64_t grid_for(const LaunchStep& step, const std::byte* arguments) {
    return step.busy_blocks ? step.busy_blocks(step, arguments) : step.grid;
}

// The steps of a schedule, in the order in which they are launched.
struct StepList {
    using Bind = std::size_t (*)(const Schedule&, const LaunchStep&, const GemmCall&, std::byte*);

    const Schedule& schedule;
    const DeviceInfo& device;
    std::vector<LaunchStep> steps = {};

    // Adds a step around the product; the reference holds until the next step is added.
    LaunchStep& add(const KernelSignature& signature, const PlanKernel& kernel, const Extent& part, std::int64_t grid, Bind bind);
    LaunchStep& add(const KernelSignature& signature, const PlanKernel& kernel, const LaunchNeeds& needs, const Extent& part,
                    std::int64_t grid, Bind bind);
};

}  // namespace tmm
