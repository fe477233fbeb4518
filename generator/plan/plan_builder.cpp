#include "generator/plan/plan_builder.h"

#include <algorithm>
#include <utility>

#include "generator/families/family.h"
#include "generator/families/sums_of_parts.h"
#include "generator/plan/kernel_arguments.h"
#include "generator/steps/fixup.h"
#include "generator/steps/reduce.h"
#include "tmm/steps/fixup/rules.h"
#include "tmm/steps/reduce/rules.h"

namespace tmm {
namespace {

// Partial results are floats.
constexpr std::int64_t kPartialBytes = 4;

// As many of the blocks that walk as the device's SMs hold at once.
std::int64_t grid_of_product(const Product& product, const KernelConfig& config, const Extent& extent, std::int64_t batch,
                             const DeviceInfo& device) {
    const std::int64_t all = product.blocks(config, extent.rows, extent.columns, batch);
    if (!product.walks(config) || device.sm_count == 0) return all;
    const std::int64_t size = cluster_size_of(config);
    const std::int64_t held = std::int64_t{device.sm_count} * config.min_blocks;
    return std::min(all, std::max<std::int64_t>(1, held / size) * size);
}

}  // namespace

PlanBuilder::PlanBuilder(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device)
    : plan_{.problem = problem, .config = config, .steps = {}},
      device_(device),
      whole_{.rows = problem.m, .columns = problem.n},
      extent_(main_extent(problem, config)),
      packing_(packing_beside(problem, config, device)),
      strips_(packed_strips(problem, config)),
      line_(phase_line_on(problem, config, device)) {}

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
                                     .plan_config = plan_.config,
                                     .bind = bind});
    return plan_.steps.back();
}

StripSums PlanBuilder::take_strip_sums() {
    strip_sums_ = strip_sums(problem(), config(), plan_.workspace_bytes);
    plan_.workspace_bytes = strip_sums_.end;
    return strip_sums_;
}

void PlanBuilder::add_product() {
    const Product& product = product_of(config());
    const std::int64_t batch = problem().batch;
    const int strip_blocks = blocks_for_strips(problem(), config(), device_);
    const std::int64_t tiles = grid_of_product(product, config(), extent_, batch, device_);
    LaunchStep& step = add(main_signature(problem(), config()), config(), extent_,
                           tiles - line_.tiles + line_.blocks + packing_.packers + strip_blocks, product.bind);
    step.partials_offset = partials_offset_;
    step.line = line_;
    step.packing = packing_;
    step.strips = strips_;
    step.strip_sums = strip_sums_;
    step.blocks_for_strips = strip_blocks;
    step.walks = product.walks(config());
    step.tensor_maps = product.tensor_maps;
    // Strips run beside the product that leaves them.
    for (const EdgeProduct& edge : edge_products(problem(), config()))
        add(edge.signature, edge.config, edge.extent, blocks_of(edge.config, edge.extent.rows, edge.extent.columns, batch), bind_product)
            .begins_early = true;
}

void PlanBuilder::add_sums() {
    const KernelSignature signature = main_signature(problem(), config());
    const std::int64_t batch = problem().batch;
    if (line_.blocks > 0) {
        const KernelConfig sum = fixup_config(config());
        LaunchStep& step = add(signature, sum, extent_, line_.tiles * fixup::blocks_per_tile(sum), bind_fixup);
        step.partials_offset = partials_offset_;
        step.line = line_;
        plan_.workspace_bytes += stream_workspace_bytes(line_, config());
    }
    if (const int parts = partial_results(config()); parts > 1) {
        const KernelConfig sum = reduce_config(problem(), config());
        add(signature, sum, extent_, reduce::blocks(sum, extent_.rows, extent_.columns, batch), bind_reduce).partials_offset =
            partials_offset_;
        plan_.workspace_bytes += batch * parts * extent_.rows * workspace_ld(extent_.columns) * kPartialBytes;
    }
}

LaunchPlan PlanBuilder::finish() && {
    return std::move(plan_);
}

}  // namespace tmm
