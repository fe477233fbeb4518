#include "generator/families/simt_arguments.h"

#include <cstring>

#include "generator/plan/kernel_arguments.h"
#include "generator/plan/operand_maps.h"
#include "generator/steps/pack.h"
#include "tmm/families/simt/rules.h"

namespace tmm {
namespace {

// What the blocks of a product are told that pack for its other blocks. product: the product's arguments.
PackersArgs packers_args(const GemmArgs& product, const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    const GemmArgs as_it_lies = make_args(step, problem, call);
    const KernelSignature signature = signature_of(problem);
    return {.blocks = step.packing.packers,
            .first_row = step.packing.first_row,
            .a = static_cast<const float*>(as_it_lies.a),
            .b = static_cast<const float*>(as_it_lies.b),
            .lda = problem.lda,
            .ldb = problem.ldb,
            .turned_a = problem.op_a == Operation::none,
            .turned_b = problem.op_b == Operation::transpose,
            .vectors_a = problem.op_a == Operation::none && signature.align_a >= 16,
            .vectors_b = problem.op_b == Operation::transpose && signature.align_b >= 16,
            .packed_a = static_cast<float*>(const_cast<void*>(product.a)),
            .packed_b = static_cast<float*>(const_cast<void*>(product.b)),
            .squares = counters_of_packers(step, problem, call)};
}

}  // namespace

std::size_t bind_simt(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    const GemmArgs product = with_partials(with_packed_operands(make_args(step, problem, call), step, problem, call), step, call);
    if (!simt::brings_by_tma(step.config)) return write_arguments(product, arguments);
    SimtTmaArgs args;
    static_cast<GemmArgs&>(args) = product;
    if (pack::packs_beside(step.config)) args.packers = packers_args(product, step, problem, call);
    args.strips = {.blocks = step.blocks_for_strips,
                   .with_a = packed_strip(step, problem, call, true),
                   .with_b = packed_strip(step, problem, call, false)};
    return write_arguments(args, arguments);
}

TensorMapRequests simt_tensor_maps(const LaunchStep& step, const std::byte* arguments) {
    const KernelConfig& config = step.config;
    if (!simt::brings_by_tma(config)) return {};
    SimtTmaArgs args;
    std::memcpy(&args, arguments, sizeof args);
    return maps_of_floats(args,
                          {.map = offset_within(args, args.tiles_a),
                           .address = args.a,
                           .matrices = {.rows = args.k, .columns = args.m, .ld = args.lda, .stride = args.stride_a},
                           .box = {.rows = config.block_k, .columns = config.block_m},
                           .times = (args.n + config.block_n - 1) / config.block_n},
                          {.map = offset_within(args, args.tiles_b),
                           .address = args.b,
                           .matrices = {.rows = args.k, .columns = args.n, .ld = args.ldb, .stride = args.stride_b},
                           .box = {.rows = config.block_k, .columns = config.block_n},
                           .times = (args.m + config.block_m - 1) / config.block_m});
}

}  // namespace tmm
