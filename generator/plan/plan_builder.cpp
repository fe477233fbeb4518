#include "generator/plan/plan_builder.h"

#include <utility>

#include "generator/families/family.h"
#include "generator/families/sums_of_parts.h"
#include "generator/plan/kernel_arguments.h"
#include "generator/steps/fixup.h"
#include "generator/steps/reduce.h"
#include "tmm/steps/fixup/rules.h"
#include "tmm/steps/reduce/rules.h"

namespace tmm {

PlanBuilder::PlanBuilder(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device)
    : plan_{.problem = problem, .config = config, .geometry = geometry_of(problem, config, device), .steps = {}}, device_(device) {
    plan_.workspace_bytes = plan_.geometry.workspace.bytes;
}

LaunchStep& PlanBuilder::add(const KernelSignature& signature, const KernelConfig& kernel, const Extent& part, std::int64_t grid,
                             Bind bind) {
    plan_.steps.push_back(LaunchStep{.signature = signature,
                                     .config = kernel,
                                     .extent = part,
                                     .grid = grid,
                                     .threads = threads_of(kernel),
                                     .cluster = cluster_size_of(kernel),
                                     .shared_bytes = shared_bytes_of(kernel, signature),
                                     .begins_early = plan_.config.overlap != 0 || family_of(kernel).rules.leaves_room,
                                     .bind = bind});
    return plan_.steps.back();
}

void PlanBuilder::add_product() {
    const Product& product = product_of(config());
    LaunchStep& step = add(main_signature(problem(), config()), config(), geometry().main, geometry().grid, product.bind);
    step.packers = geometry().packing.packers;
    step.blocks_for_strips = geometry().blocks_for_strips;
    step.walks = product.walks(config());
    step.tensor_maps = product.tensor_maps;
    // Strips run beside the product that leaves them.
    for (const EdgeProduct& edge : edge_products(problem(), geometry())) {
        const std::int64_t blocks = blocks_of(edge.config, edge.extent.rows, edge.extent.columns, problem().batch);
        add(edge.signature, edge.config, edge.extent, blocks, bind_strip).begins_early = true;
    }
}

void PlanBuilder::add_sums() {
    const KernelSignature signature = main_signature(problem(), config());
    const Extent& main = geometry().main;
    if (geometry().line.blocks > 0) {
        const KernelConfig sum = fixup_config(config());
        add(signature, sum, main, geometry().line.tiles * fixup::blocks_per_tile(sum), bind_fixup);
    }
    if (geometry().partial_results > 1) {
        const KernelConfig sum = reduce_config(problem(), config());
        add(signature, sum, main, reduce::blocks(sum, main.rows, main.columns, problem().batch), bind_reduce);
    }
}

LaunchPlan PlanBuilder::finish() && {
    return std::move(plan_);
}

}  // namespace tmm
