#include "generator/plan/finishing_step.h"

#include "generator/families/family.h"
#include "generator/plan/kernel_arguments.h"
#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/steps/steps.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

// Sums begin where any part of a workspace may.
constexpr std::int64_t kPartAlignment = 256;

std::size_t bind(const LaunchPlan& plan, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    const GemmProblem& problem = plan.problem;
    const FinishedSums& sums = plan.geometry.finished;
    const WorkspaceParts& parts = plan.geometry.workspace;
    return write_arguments(GemmArgs{.c = call.c,
                                    .workspace = static_cast<std::byte*>(call.workspace) + parts.partials,
                                    .m = problem.m,
                                    .n = problem.n,
                                    .k = problem.k,
                                    .batch = problem.batch,
                                    .ldc = problem.ldc,
                                    .stride_c = problem.stride_c,
                                    .k_per_split = depth_of_split(problem.k, sums.parts, 1),
                                    .split_k = sums.parts,
                                    .alpha = call.alpha,
                                    .beta = call.beta,
                                    .epilogue = epilogue_args(problem, call)},
                           arguments);
}

// Does the step add up the parts of K that the config's product leaves?
bool adds_parts(const GemmProblem& product, const KernelConfig& config) {
    return partial_results(config) > 1 && main_extent(product, config) == Extent{.rows = product.m, .columns = product.n};
}

// C of the sums' type holds what the epilogue is applied to as it is.
bool sums_stand_in_c(const GemmProblem& problem, const GemmProblem& product, const KernelConfig& config) {
    return problem.type_c == sum_type(problem) && !is_gate(problem.activation) && !adds_parts(product, config);
}

}  // namespace

bool gate_is_a_step(const GemmProblem& problem, const KernelConfig& config) {
    return is_gate(problem.activation) && !product_of(config).applies_gate(problem, config);
}

bool has_finishing_step(const GemmProblem& problem, const KernelConfig& config, EpiloguePlace place) {
    return (place == EpiloguePlace::step && problem.epilogue != Epilogue::none) || gate_is_a_step(problem, config);
}

bool step_can_finish(const GemmProblem& problem) {
    return converted_types_violation(signature_of(problem)) == nullptr && finishing_serves(problem);
}

GemmProblem product_problem(const GemmProblem& problem, const KernelConfig& config, EpiloguePlace place) {
    if (!has_finishing_step(problem, config, place)) return problem;
    GemmProblem product = without_epilogue(problem);
    if (sums_stand_in_c(problem, product, config)) return product;
    product.type_c = sum_type(problem);
    product.reads_c = false;
    product.ldc = workspace_ld(product.n);
    product.stride_c = product.batch > 1 ? product.m * product.ldc : 0;
    return product;
}

// That the product writes its sums is part of its own time, and so is the kernel that adds up parts of K.
double microseconds_of_step(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    const GemmProblem product = without_epilogue(problem);
    if (adds_parts(product, config)) return 0;
    const bool reads_c = problem.reads_c && !sums_stand_in_c(problem, product, config);
    const std::int64_t sums = products_of_row(problem.activation) * products_of_column(problem.activation);
    const std::int64_t of_c = 1 + (problem.residual ? 1 : 0) + (reads_c ? 1 : 0);
    const std::int64_t bytes = sum_bytes(problem) * sums + size_of(problem.type_c) * of_c;
    return device.profile.second_kernel + elements_of_c(problem) * static_cast<double>(bytes) / device.profile.memory_bytes;
}

Geometry geometry_with_sums(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, EpiloguePlace place) {
    const GemmProblem product = product_problem(problem, config, place);
    Geometry geometry = geometry_of(product, config, device);
    if (!has_finishing_step(problem, config, place)) return geometry;
    if (adds_parts(product, config)) {
        geometry.finished.parts = geometry.partial_results;
        return geometry;
    }
    geometry.finished.parts = 1;
    if (sums_stand_in_c(problem, product, config)) return geometry;
    const std::int64_t begin = (geometry.workspace.bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    geometry.finished = {.parts = 1, .offset = begin, .bytes = product.batch * product.m * product.ldc * sum_bytes(problem)};
    geometry.workspace.bytes = begin + geometry.finished.bytes;
    return geometry;
}

void add_finish(PlanBuilder& plan) {
    if (plan.geometry().finished.parts == 1) return add_finishing(plan);
    const GemmProblem& problem = plan.asked();
    const Extent extent{.rows = rows_of_c(problem), .columns = columns_of_c(problem)};
    const Reduce step = reduce_for(extent, problem.batch, plan.geometry().finished.parts);
    plan.add(signature_of(problem), step, extent, reduce::blocks(step, extent.rows, extent.columns, problem.batch), bind).finishes_sums =
        true;
}

GemmCall product_call(const LaunchPlan& plan, const GemmCall& call) {
    GemmCall product = call;
    product.bias = nullptr;
    product.residual = nullptr;
    if (plan.geometry.finished.stand_in_c()) return product;
    product.c = static_cast<std::byte*>(call.workspace) + plan.geometry.finished.offset;
    // The step applies alpha and beta; without alpha A and B are not read.
    if (product.alpha != 0) product.alpha = 1;
    return product;
}

}  // namespace tmm
