#include "generator/families/wgmma_arguments.h"

#include "generator/plan/kernel_arguments.h"
#include "generator/steps/pad.h"
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
WgmmaArgs make_product_of_planes_args(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call) {
    const SplitOperands split = split_operands(step, problem, call);
    const PlanesOperands operands = planes_operands(problem, step.plan_config);
    const planes::Operand& a = operands.a;
    const planes::Operand& b = operands.b;
    const ElementType type = planes::type_of(step.plan_config.planes);
    WgmmaArgs args = with_grid(with_partials(make_args(step, problem, call), step, call), step.config);
    args.a = split.a.planes;
    args.b = split.b.planes;
    args.lda = pad::padded_ld(a.columns, type);
    args.ldb = pad::padded_ld(b.columns, type);
    args.stride_a = a.matrices > 1 ? step.plan_config.planes * a.rows * args.lda : 0;
    args.stride_b = b.matrices > 1 ? step.plan_config.planes * b.rows * args.ldb : 0;
    const bool swap = step.config.swap_ab != 0;
    args.exponents_left = (swap ? split.b : split.a).exponents;
    args.exponents_right = (swap ? split.a : split.b).exponents;
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
    return args;
}

}  // namespace

std::size_t bind_wgmma(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    if (step.plan_config.planes > 1) return write_arguments(make_product_of_planes_args(step, problem, call), arguments);
    const GemmProblem padded = padded_problem(problem, step.config);
    const GemmArgs args = with_partials(make_args(step, padded, padded_call(problem, step.config, call)), step, call);
    return write_arguments(with_grid(args, step.config), arguments);
}

}  // namespace tmm
