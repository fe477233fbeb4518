#include "generator/plan/launch_plan.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "generator/families/family.h"
#include "generator/families/gemv/strip.h"
#include "generator/plan/finishing_step.h"
#include "generator/plan/kernel_arguments.h"
#include "generator/plan/plan_builder.h"
#include "generator/problem/matrix_layout.h"
#include "generator/steps/steps.h"
#include "tmm/steps/pack/rules.h"
#include "tmm/steps/pack/strips.h"

namespace tmm {
namespace {

// What is left of a declared alignment so many elements further on.
int alignment_at(int alignment, std::int64_t offset, ElementType type) {
    while (alignment > size_of(type) && offset * size_of(type) % alignment != 0) alignment /= 2;
    return alignment;
}

}  // namespace

std::int64_t prepared_bytes(const LaunchPlan& plan, GemmOperand operand) {
    if (plan.config.planes <= 1 || plan.steps.empty()) return 0;
    return (operand == GemmOperand::a ? plan.geometry.copies.a : plan.geometry.copies.b).bytes;
}

std::size_t bind_step(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments) {
    const bool is_before_finish = plan.geometry.finished.parts > 0 && !step.finishes_sums;
    return step.bind(plan, step, is_before_finish ? product_call(plan, call) : call, arguments);
}

std::size_t main_step(const LaunchPlan& plan) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
        if (const KernelConfig* config = config_of(plan.steps[i]); config && config->family == plan.config.family) return i;
    return 0;
}

std::vector<EdgeProduct> edge_products(const GemmProblem& problem, const Tiling& tiling) {
    std::vector<EdgeProduct> edges;
    const auto add = [&](const Extent& extent, bool swap) {
        if (extent.rows == 0 || extent.columns == 0) return;
        KernelSignature signature = signature_of(problem);
        signature.align_a = alignment_at(signature.align_a, offset_a(problem, extent), problem.type_a);
        signature.align_b = alignment_at(signature.align_b, offset_b(problem, extent), problem.type_b);
        signature.align_c = alignment_at(signature.align_c, offset_c(problem, extent), problem.type_c);
        edges.push_back(
            EdgeProduct{.signature = signature, .config = gemv_strip(extent, problem.batch, signature, swap), .extent = extent});
    };
    add(tiling.below, false);
    add(tiling.right, true);
    return edges;
}

KernelSignature main_signature(const GemmProblem& problem, const KernelConfig& config) {
    return product_of(config).signature(product_problem(problem, config), config);
}

LaunchPlan make_launch_plan(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, Expression expression,
                            EpiloguePlace place) {
    if (is_empty(problem)) return {.problem = problem, .product = problem, .config = config, .geometry = {}, .steps = {}};
    const Product& product = product_of(config);
    PlanBuilder plan(problem, config, device, place);
    product.add_steps_before(plan);
    plan.add_product();
    product.add_steps_behind(plan);
    plan.add_sums();
    if (plan.geometry().finished.parts > 0) add_finish(plan);
    LaunchPlan made = std::move(plan).finish();
    made.expression = std::move(expression);
    return made;
}

std::int64_t depth_of_parts(const GemmProblem& problem, const KernelConfig& config) {
    return std::min<std::int64_t>(depth_of_split(problem.k, config.split_k, config.block_k), problem.k);
}

std::int64_t longest_sum_of_parts(const GemmProblem& problem, const KernelConfig& config) {
    // A cluster's blocks, and fixup, add up what their additions lose as well (partial_sums.cuh): two roundings, whatever their number.
    std::int64_t chain = config.cluster > 1 || config.stream_k != 0 ? 2 : 0;
    if (const int parts = partial_results(config); parts > 1) chain += reduce::longest_chain(reduce_for(problem, config), parts);
    return chain;
}

std::int64_t blocks_that_add_parts(const GemmProblem& problem, const KernelConfig& config) {
    if (partial_results(config) <= 1) return 0;
    const Extent extent = main_extent(problem, config);
    return reduce::blocks(reduce_for(problem, config), extent.rows, extent.columns, problem.batch);
}

std::int64_t longest_rounding_chain(const GemmProblem& problem, const KernelConfig& config) {
    const Tiling tiling = tiling_of(problem, config);
    std::int64_t chain = config.split_k > 1 ? depth_of_parts(problem, config) : problem.k;
    chain = product_of(config).longest_chain(problem, config, chain);
    chain += longest_sum_of_parts(problem, config);
    if (tiling.packed.any()) chain = std::max<std::int64_t>(chain, strips::longest_chain(std::max(1, threads_of(config) / 32), problem.k));
    for (const EdgeProduct& edge : edge_products(problem, tiling))
        chain = std::max<std::int64_t>(chain, product_of(edge.config).longest_chain(problem, edge.config, problem.k));
    return chain;
}

}  // namespace tmm
