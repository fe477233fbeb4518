#include "generator/families/wgmma_steps.h"

#include <algorithm>

#include "generator/families/family.h"
#include "generator/steps/pad.h"
#include "generator/steps/planes.h"
#include "generator/steps/rescue.h"
#include "tmm/steps/pack/rules.h"
#include "tmm/steps/pad/rules.h"
#include "tmm/steps/planes/rules.h"
#include "tmm/steps/rescue/rules.h"

namespace tmm {
namespace {

// Serves every problem that planes do, at a good part of the speed that FP32 FMAs have. A thread holds each sum twice, so its part of the
// tile is small: with 235 registers a thread finding nothing to do took 2.5 us longer than with 140 or 204 (1024 cubed on an H200).
constexpr KernelConfig kRescueConfig{.family = family::rescue,
                                     .block_m = 64,
                                     .block_n = 64,
                                     .block_k = 16,
                                     .thread_m = 8,
                                     .thread_n = 4,
                                     .stages = 3,
                                     .async_copy = 1,
                                     .vector_width = 4,
                                     .boundary = boundary::peeled,
                                     .min_blocks = 3};

std::int64_t blocks_that_pad(const GemmProblem& problem, const KernelConfig& config) {
    const KernelSignature signature = signature_of(problem);
    std::int64_t pieces = 0;
    std::int64_t squares = 0;
    const auto add = [&](const pad::Shape& shape, bool turned, ElementType type) {
        if (turned)
            squares += pack::tiles(shape.columns, shape.rows, problem.batch);
        else
            pieces += pad::cut(shape.rows, shape.columns * size_of(type) / 2, problem.batch, 0, 0).pieces;
    };
    if (pad::pads_a(config)) add(pad::copy_of_a(problem), pad::turns_a(config, signature), problem.type_a);
    if (pad::pads_b(config)) add(pad::copy_of_b(problem), pad::turns_b(config, signature), problem.type_b);
    return pad::blocks(pieces, squares);
}

void add_pad(PlanBuilder& plan) {
    const KernelConfig copy{.family = family::pad, .min_blocks = pad::kBlocksPerSm, .pack_ab = plan.config().pack_ab};
    plan.add(signature_of(plan.problem()), copy, plan.geometry().whole, blocks_that_pad(plan.problem(), plan.config()), bind_pad);
}

void add_planes(PlanBuilder& plan) {
    const PlanesOperands operands = planes_operands(plan.problem(), plan.config());
    const i64 depth = depth_of_parts(plan.problem(), plan.config());
    const int sharers = planes::cluster_for(depth);
    const int slots = planes::slots_for(depth);
    const KernelConfig split{.family = family::planes,
                             .stages = slots,
                             .vector_width = 4,
                             .split_k = sharers,
                             .min_blocks = planes::blocks_per_sm(slots),
                             .cluster = sharers,
                             .planes = plan.config().planes};
    const i64 items = planes::items(operands.a) + planes::items(operands.b);
    LaunchStep& step = plan.add(signature_of(plan.problem()), split, plan.geometry().main, planes::blocks(split, items), bind_planes);
    step.bind_preparation = bind_preparation;
    step.busy_blocks = busy_blocks;
}

}  // namespace

void add_wgmma_steps_before(PlanBuilder& plan) {
    if (plan.config().pack_ab != 0) add_pad(plan);
    if (plan.config().planes > 1) add_planes(plan);
}

void add_wgmma_steps_behind(PlanBuilder& plan) {
    if (plan.config().planes <= 1) return;
    KernelConfig rescue = kRescueConfig;
    rescue.split_k = partial_results(plan.config());
    const auto [m, n] = std::pair(plan.geometry().main.rows, plan.geometry().main.columns);
    const std::int64_t items = rescue::items(rescue, m, n, plan.problem().batch, rescue.split_k);
    const std::int64_t sms = plan.device().sm_count;
    plan.add(signature_of(plan.problem()), rescue, plan.geometry().main, sms > 0 ? std::min(items, sms * rescue.min_blocks) : items,
             bind_rescue);
}

}  // namespace tmm
