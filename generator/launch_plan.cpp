#include "generator/launch_plan.h"

#include <algorithm>
#include <cstring>

#include "tmm/rules.h"

namespace tmm {
namespace {

std::int64_t k_per_split(const GemmProblem& problem, const KernelConfig& config) {
    const std::int64_t share = (problem.k + config.split_k - 1) / config.split_k;
    return (share + config.block_k - 1) / config.block_k * config.block_k;
}

GemmArgs make_args(const GemmProblem& problem, const KernelConfig& config, const GemmCall& call) {
    // alpha = 0 promises that A and B are not read; k = 0 does that, and leaves beta * C.
    const bool product = call.alpha != 0 && problem.k > 0;
    return GemmArgs{.a = call.a,
                    .b = call.b,
                    .c = call.c,
                    .bias = call.bias,
                    .workspace = call.workspace,
                    .m = problem.m,
                    .n = problem.n,
                    .k = product ? problem.k : 0,
                    .batch = problem.batch,
                    .lda = problem.lda,
                    .ldb = problem.ldb,
                    .ldc = problem.ldc,
                    .stride_a = problem.stride_a,
                    .stride_b = problem.stride_b,
                    .stride_c = problem.stride_c,
                    .k_per_split = k_per_split(problem, config),
                    .split_k = config.split_k,
                    .raster = config.raster,
                    .alpha = product ? call.alpha : 0.0,
                    .beta = call.beta};
}

std::size_t bind_arguments(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    const GemmArgs args = make_args(problem, step.config, call);
    std::memcpy(arguments, &args, sizeof args);
    return sizeof args;
}

// The kernel that adds up the parts. Where there are many, threads share an element's parts.
KernelConfig reduce_config(const GemmProblem& problem, int split_k) {
    const int sharers = split_k >= 64 ? 16 : split_k >= 16 ? 8 : split_k >= 8 ? 4 : 1;
    const int columns = problem.n <= 64 ? 64 : sharers == 16 ? 128 : 256;
    return KernelConfig{.family = family::reduce, .block_m = sharers, .block_n = columns, .split_k = split_k};
}

}  // namespace

LaunchPlan make_launch_plan(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo&) {
    LaunchPlan plan{.problem = problem, .config = config, .steps = {}, .workspace_bytes = 0};
    if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return plan;
    const KernelSignature signature = signature_of(problem);
    plan.steps.push_back(LaunchStep{.signature = signature,
                                    .config = config,
                                    .grid = blocks(config, problem.m, problem.n, problem.batch),
                                    .threads = threads(config),
                                    .cluster = 1,
                                    .shared_bytes = shared_bytes(config, signature),
                                    .bind = bind_arguments});
    if (config.split_k > 1) {
        const KernelConfig sum = reduce_config(problem, config.split_k);
        plan.steps.push_back(LaunchStep{.signature = signature,
                                        .config = sum,
                                        .grid = blocks(sum, problem.m, problem.n, problem.batch),
                                        .threads = threads(sum),
                                        .cluster = 1,
                                        .shared_bytes = shared_bytes(sum, signature),
                                        .bind = bind_arguments});
        plan.workspace_bytes = problem.batch * config.split_k * problem.m * workspace_ld(problem.n) * 4;
    }
    return plan;
}

std::int64_t longest_rounding_chain(const GemmProblem& problem, const KernelConfig& config) {
    std::int64_t chain = config.split_k > 1 ? std::min<std::int64_t>(k_per_split(problem, config), problem.k) : problem.k;
    if (config.family == family::gemv) chain = gemv::longest_chain(config, chain);
    if (config.split_k > 1) chain += reduce::longest_chain(reduce_config(problem, config.split_k), config.split_k);
    return chain;
}

}  // namespace tmm
