#include "generator/families/wgmma/arguments.h"

#include "generator/plan/kernel_arguments.h"
#include "generator/steps/planes.h"
#include "tmm/families/wgmma/rules.h"

namespace tmm {
namespace {

WgmmaArgs with_grid(const GemmArgs& args, const KernelConfig& config) {
    WgmmaArgs wgmma;
    static_cast<GemmArgs&>(wgmma) = args;
    wgmma.grid = tile_grid(wgmma::clusters_left(config, args.m, args.n), wgmma::clusters_right(config, args.m, args.n), args.raster);
    return wgmma;
}

// The operands are their planes.
void add_planes(WgmmaArgs& args, const LaunchPlan& plan, const GemmCall& call) {
    const SplitOperands split = split_operands(plan, call);
    const bool swap = plan.config.swap_ab != 0;
    args.exponents_left = (swap ? split.b : split.a).exponents;
    args.exponents_right = (swap ? split.a : split.b).exponents;
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
}

}  // namespace

std::size_t bind_wgmma(const LaunchPlan& plan, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    WgmmaArgs args = with_grid(product_args(plan, call), plan.config);
    if (plan.config.planes > 1) add_planes(args, plan, call);
    return write_arguments(args, arguments);
}

}  // namespace tmm
