#include "generator/families/skinny/arguments.h"

#include <cstring>

#include "generator/plan/kernel_arguments.h"
#include "generator/plan/operand_maps.h"
#include "tmm/families/skinny/rules.h"

namespace tmm {

std::size_t bind_skinny(const LaunchPlan& plan, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    SkinnyArgs args;
    static_cast<GemmArgs&>(args) = product_args(plan, call);
    return write_arguments(args, arguments);
}

TensorMapRequests skinny_tensor_maps(const LaunchStep& step, const std::byte* arguments) {
    const KernelConfig& config = *config_of(step);
    SkinnyArgs args;
    std::memcpy(&args, arguments, sizeof args);
    const StoredMatrices a{.rows = args.m, .columns = args.k, .ld = args.lda, .stride = args.stride_a};
    const StoredMatrices b{.rows = args.n, .columns = args.k, .ld = args.ldb, .stride = args.stride_b};
    const bool swap = config.swap_ab != 0;
    return maps_of_floats(args,
                          {.map = offset_within(args, args.few),
                           .address = swap ? args.b : args.a,
                           .matrices = swap ? b : a,
                           .box = {.rows = config.block_m, .columns = config.block_k},
                           .times = blocks_many(config, args.m, args.n)},
                          {.map = offset_within(args, args.many),
                           .address = swap ? args.a : args.b,
                           .matrices = swap ? a : b,
                           .box = {.rows = config.block_n, .columns = config.block_k},
                           .times = blocks_few(config, args.m, args.n)});
}

}  // namespace tmm
