#include "generator/families/simt/arguments.h"

#include <cstring>

#include "generator/plan/kernel_arguments.h"
#include "generator/plan/operand_maps.h"
#include "generator/steps/pack.h"
#include "tmm/families/simt/rules.h"

namespace tmm {

std::size_t bind_simt(const LaunchPlan& plan, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    const GemmArgs product = product_args(plan, call);
    if (!simt::brings_by_tma(plan.config)) return write_arguments(product, arguments);
    SimtTmaArgs args;
    static_cast<GemmArgs&>(args) = product;
    args.packers = packers_args(plan, call);
    args.strips = strips_args(plan, call);
    return write_arguments(args, arguments);
}

TensorMapRequests simt_tensor_maps(const LaunchStep& step, const std::byte* arguments) {
    const KernelConfig& config = *config_of(step);
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
