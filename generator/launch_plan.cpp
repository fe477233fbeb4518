#include "generator/launch_plan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "tmm/rules.h"

namespace tmm {
namespace {

// Of packed operands and partial results.
constexpr std::int64_t kElementBytes = 4;

std::int64_t k_per_split(const GemmProblem& problem, const KernelConfig& config) {
    const std::int64_t share = (problem.k + config.split_k - 1) / config.split_k;
    return (share + config.block_k - 1) / config.block_k * config.block_k;
}

GemmArgs make_args(const GemmProblem& problem, const KernelConfig& config, const GemmCall& call) {
    // alpha = 0 promises that A and B are not read, whatever stands there, NaN and null pointers included; k = 0 does that, and
    // leaves beta * C.
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

std::byte* at(void* workspace, std::int64_t offset) {
    return static_cast<std::byte*>(workspace) + offset;
}

std::size_t write(const GemmArgs& args, std::byte* arguments) {
    std::memcpy(arguments, &args, sizeof args);
    return sizeof args;
}

std::size_t bind_pack(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    return write(make_args(problem, step.config, call), arguments);
}

std::size_t bind_product(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    GemmArgs args = make_args(problem, step.config, call);
    std::int64_t packed = 0;
    if (pack::packs_a(step.config)) {
        args.a = at(call.workspace, 0);
        args.lda = packed_ld(problem.m);
        args.stride_a = args.lda * problem.k;
        packed = pack::packed_elements(problem.m, problem.k, problem.batch) * kElementBytes;
    }
    if (pack::packs_b(step.config)) {
        args.b = at(call.workspace, packed);
        args.ldb = packed_ld(problem.n);
        args.stride_b = args.ldb * problem.k;
    }
    if (partial_results(step.config) > 1) args.workspace = at(call.workspace, step.partials_offset);
    return write(args, arguments);
}

std::size_t bind_reduce(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    GemmArgs args = make_args(problem, step.config, call);
    args.workspace = at(call.workspace, step.partials_offset);
    return write(args, arguments);
}

// The kernel that adds up the partial results. Where there are many, threads share an element's parts.
KernelConfig reduce_config(const GemmProblem& problem, int parts) {
    const int sharers = parts >= 64 ? 16 : parts >= 16 ? 8 : parts >= 8 ? 4 : 1;
    const int columns = problem.n <= 64 ? 64 : sharers == 16 ? 128 : 256;
    return KernelConfig{.family = family::reduce, .block_m = sharers, .block_n = columns, .split_k = parts};
}

}  // namespace

KernelSignature main_signature(const GemmProblem& problem, const KernelConfig& config) {
    KernelSignature signature = signature_of(problem);
    if (config.family == family::pack) return signature;
    if (pack::packs_a(config)) {
        signature.op_a = Operation::transpose;
        signature.align_a = 16;
    }
    if (pack::packs_b(config)) {
        signature.op_b = Operation::none;
        signature.align_b = 16;
    }
    return signature;
}

LaunchPlan make_launch_plan(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo&) {
    LaunchPlan plan{.problem = problem, .config = config, .steps = {}, .workspace_bytes = 0};
    const auto [m, n, k, batch] = std::array{problem.m, problem.n, problem.k, problem.batch};
    if (m == 0 || n == 0 || batch == 0) return plan;

    const auto add = [&](const KernelSignature& signature, const KernelConfig& kernel, std::int64_t grid, std::int64_t partials_offset,
                         auto bind) {
        plan.steps.push_back(LaunchStep{.signature = signature,
                                        .config = kernel,
                                        .grid = grid,
                                        .threads = threads(kernel),
                                        .cluster = kernel.cluster,
                                        .shared_bytes = shared_bytes(kernel, signature),
                                        .partials_offset = partials_offset,
                                        .bind = bind});
    };

    if (config.pack_ab != 0) {
        const KernelConfig copy{.family = family::pack, .pack_ab = config.pack_ab};
        add(signature_of(problem), copy, pack::blocks(copy, m, n, k, batch), 0, bind_pack);
        if (pack::packs_a(config)) plan.workspace_bytes += pack::packed_elements(m, k, batch) * kElementBytes;
        if (pack::packs_b(config)) plan.workspace_bytes += pack::packed_elements(n, k, batch) * kElementBytes;
    }
    const std::int64_t partials_offset = plan.workspace_bytes;
    const KernelSignature signature = main_signature(problem, config);
    add(signature, config, blocks(config, m, n, batch), partials_offset, bind_product);
    if (const int parts = partial_results(config); parts > 1) {
        const KernelConfig sum = reduce_config(problem, parts);
        add(signature, sum, blocks(sum, m, n, batch), partials_offset, bind_reduce);
        plan.workspace_bytes += batch * parts * m * workspace_ld(n) * kElementBytes;
    }
    return plan;
}

std::int64_t longest_rounding_chain(const GemmProblem& problem, const KernelConfig& config) {
    std::int64_t chain = config.split_k > 1 ? std::min<std::int64_t>(k_per_split(problem, config), problem.k) : problem.k;
    if (config.family == family::gemv) chain = gemv::longest_chain(config, chain);
    if (config.cluster > 1) chain += config.cluster;
    if (const int parts = partial_results(config); parts > 1) chain += reduce::longest_chain(reduce_config(problem, parts), parts);
    return chain;
}

}  // namespace tmm
