#include "generator/plan/plan_builder.h"

#include <utility>

#include "generator/families/family.h"
#include "generator/plan/finishing_step.h"
#include "generator/plan/kernel_arguments.h"
#include "generator/steps/steps.h"

namespace tmm {

PlanBuilder::PlanBuilder(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, EpiloguePlace place)
    : plan_{.problem = problem,
            .product = product_problem(problem, config, place),
            .config = config,
            .geometry = geometry_with_sums(problem, config, device, place),
            .steps = {}},
      device_(device) {
    plan_.workspace_bytes = plan_.geometry.workspace.bytes;
}

LaunchStep& PlanBuilder::add(const KernelSignature& signature, const PlanKernel& kernel, const Extent& part, std::int64_t grid, Bind bind) {
    const LaunchNeeds needs = needs_of(kernel, signature);
    plan_.steps.push_back(LaunchStep{.signature = signature,
                                     .kernel = kernel,
                                     .extent = part,
                                     .grid = grid,
                                     .threads = needs.threads,
                                     .cluster = needs.cluster,
                                     .shared_bytes = needs.shared_bytes,
                                     .begins_early = plan_.config.overlap != 0 || needs.leaves_room,
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
    if (geometry().line.blocks > 0) add_fixup(*this);
    // The step that finishes sums may add up the parts itself.
    if (geometry().partial_results > 1 && geometry().finished.parts <= 1) add_reduce(*this);
}

LaunchPlan PlanBuilder::finish() && {
    return std::move(plan_);
}

}  // namespace tmm
