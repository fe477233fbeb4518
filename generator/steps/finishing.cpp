#include "generator/steps/steps.h"

#include <algorithm>

#include "generator/problem/matrix_layout.h"
#include "generator/steps/arguments.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

constexpr std::int64_t kLargestGrid = 2147483647;
// The threads of a warp read whole lines of a row that is so long.
constexpr int kAcross = 32;
constexpr int kFewThreads = 64;
// Blocks of each SM that are worth more than larger blocks.
constexpr std::int64_t kBlocksWanted = 2;

int power_of_two_from(std::int64_t least, int most) {
    int power = 1;
    while (power < most && power < least) power *= 2;
    return power;
}

std::int64_t blocks_of(const Finishing& step, const Extent& extent, std::int64_t batch, const KernelSignature& signature) {
    return finishing::tiles_across(step, signature, extent.columns) * finishing::tiles_down(step, extent.rows) * batch;
}

// Where the sums stand in C, C's old value is part of them.
KernelSignature finishing_signature(const GemmProblem& problem, const FinishedSums& sums) {
    KernelSignature signature = signature_of(problem);
    if (sums.stand_in_c()) signature.reads_c = false;
    return signature;
}

std::size_t bind(const Schedule& schedule, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    const GemmProblem& problem = schedule.problem;
    const GemmProblem& product = schedule.product;
    const FinishedSums& sums = schedule.finished;
    const Finishing& kernel = std::get<Finishing>(step.kernel);
    FinishingArgs args;
    static_cast<GemmArgs&>(args) = {
        .c = call.c,
        .workspace = sums.stand_in_c() ? call.c : static_cast<std::byte*>(call.workspace) + sums.offset,
        .m = problem.m,
        .n = problem.n,
        .k = problem.k,
        .batch = problem.batch,
        .ldc = problem.ldc,
        .stride_c = problem.stride_c,
        .alpha = sums.stand_in_c() ? 1 : call.alpha,
        .beta = sums.stand_in_c() ? 0 : call.beta,
        .epilogue = epilogue_args(problem, call),
    };
    args.ld_sums = product.ldc;
    args.stride_sums = product.stride_c;
    args.tiles_across = divisor(static_cast<unsigned>(finishing::tiles_across(kernel, step.signature, step.extent.columns)));
    args.tiles_down = divisor(static_cast<unsigned>(finishing::tiles_down(kernel, step.extent.rows)));
    return write_arguments(args, arguments);
}

// The kernel that adds up parts of K applies the epilogue as well.
std::size_t bind_reduce(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    const GemmProblem& problem = schedule.problem;
    const FinishedSums& sums = schedule.finished;
    return write_arguments(GemmArgs{.c = call.c,
                                    .workspace = static_cast<std::byte*>(call.workspace) + schedule.workspace.partials,
                                    .m = problem.m,
                                    .n = problem.n,
                                    .k = problem.k,
                                    .batch = problem.batch,
                                    .ldc = problem.ldc,
                                    .stride_c = problem.stride_c,
                                    .k_per_split = depth_of_split(problem.k, sums.parts, 1),
                                    .split_k = sums.parts,
                                    .alpha = call.alpha,
                                    .beta = call.beta,
                                    .epilogue = epilogue_args(problem, call)},
                           arguments);
}

Extent all_of_c(const GemmProblem& problem) {
    return {.rows = rows_of_c(problem), .columns = columns_of_c(problem)};
}

}  // namespace

// A block first has as much work as one takes, and then less of it until all SMs have blocks.
Finishing finishing_for(const Extent& extent, std::int64_t batch, const KernelSignature& signature, int sms) {
    const int width = finishing::width(signature);
    Finishing step;
    step.across = power_of_two_from((extent.columns + width - 1) / width, kAcross);
    step.rows = finishing::most_rows(signature);
    step.down = power_of_two_from(extent.rows, finishing::kMostThreads / step.across);
    while (step.rows > 1 && step.down * static_cast<std::int64_t>(step.rows) >= 2 * extent.rows) step.rows /= 2;
    while (blocks_of(step, extent, batch, signature) < kBlocksWanted * sms) {
        if (step.rows > 1)
            step.rows /= 2;
        else if (step.down > 1 && finishing::threads(step) > kFewThreads)
            step.down /= 2;
        else
            break;
    }
    return step;
}

bool step_can_finish(const GemmProblem& problem) {
    if (converted_types_violation(signature_of(problem))) return false;
    const Extent extent = all_of_c(problem);
    const KernelSignature signature = signature_of(problem);
    return blocks_of(finishing_for(extent, problem.batch, signature, 0), extent, problem.batch, signature) <= kLargestGrid;
}

// That the product writes its sums is part of its own time, and so is the kernel that adds up parts of K.
double microseconds_of_finish(const Schedule& schedule, const DeviceInfo& device) {
    const FinishedSums& sums = schedule.finished;
    if (sums.parts != 1) return 0;
    const GemmProblem& problem = schedule.problem;
    const bool reads_c = problem.reads_c && !sums.stand_in_c();
    const std::int64_t of_sums = products_of_row(problem.activation) * products_of_column(problem.activation);
    const std::int64_t of_c = 1 + (problem.residual ? 1 : 0) + (reads_c ? 1 : 0);
    const std::int64_t bytes = sum_bytes(problem) * of_sums + size_of(problem.type_c) * of_c;
    return device.profile.second_kernel + elements_of_c(problem) * static_cast<double>(bytes) / device.profile.memory_bytes;
}

void add_finish(StepList& list) {
    const Schedule& schedule = list.schedule;
    const GemmProblem& problem = schedule.problem;
    const Extent extent = all_of_c(problem);
    if (schedule.finished.parts == 1) {
        const KernelSignature signature = finishing_signature(problem, schedule.finished);
        const Finishing step = finishing_for(extent, problem.batch, signature, list.device.sm_count);
        list.add(signature, step, extent, blocks_of(step, extent, problem.batch, signature), bind).finishes_sums = true;
        return;
    }
    const Reduce step = reduce_for(extent, problem.batch, schedule.finished.parts);
    const std::int64_t blocks = reduce::blocks(step, extent.rows, extent.columns, problem.batch);
    list.add(signature_of(problem), step, extent, blocks, bind_reduce).finishes_sums = true;
}

GemmCall product_call(const Schedule& schedule, const GemmCall& call) {
    GemmCall product = call;
    product.bias = nullptr;
    product.residual = nullptr;
    if (schedule.finished.stand_in_c()) return product;
    product.c = static_cast<std::byte*>(call.workspace) + schedule.finished.offset;
    // The step applies alpha and beta; without alpha A and B are not read.
    if (product.alpha != 0) product.alpha = 1;
    return product;
}

StepFacts facts_of(const Finishing& step, const KernelSignature& signature) {
    return {.name = "finishing",
            .type = "Finishing",
            .arguments_type = "tmm::FinishingArgs",
            .fields = {number_field("across", step.across), number_field("down", step.down), number_field("rows", step.rows)},
            .vector_of_ab = 1,
            .vector_of_c = 16 / size_of(signature.type_c),
            .knows_tf32 = false,
            .adds_partial_sums = true,
            .finishes_results = true,
            .violation = finishing::first_violation(step, signature),
            .blocks_per_sm = 2,
            .needs = {.threads = finishing::threads(step), .shared_bytes = 0, .cluster = 1, .leaves_room = true}};
}

}  // namespace tmm
