#include "generator/families/product_problem.h"

#include "generator/families/family.h"
#include "generator/problem/problem_forms.h"
#include "tmm/number/arithmetic.h"
#include "tmm/vocabulary/args.h"

namespace tmm {
namespace {

// Does the step add up the parts of K that the config's product leaves?
bool adds_parts(const GemmProblem& product, const KernelConfig& config) {
    return partial_results(config) > 1 && main_extent(product, config) == Extent{.rows = product.m, .columns = product.n};
}

// C of the sums' type holds what the epilogue is applied to as it is.
bool sums_stand_in_c(const GemmProblem& problem, const GemmProblem& product, const KernelConfig& config) {
    return problem.type_c == sum_type(problem) && !is_gate(problem.activation) && !adds_parts(product, config) &&
           !triangle_is_a_step(problem, config);
}

}  // namespace

bool gate_is_a_step(const GemmProblem& problem, const KernelConfig& config) {
    const auto applies_gate = family_of(config).launch.applies_gate;
    return is_gate(problem.activation) && !(applies_gate && applies_gate(problem, config));
}

bool triangle_is_a_step(const GemmProblem& problem, const KernelConfig& config) {
    return (problem.result == Result::lower || problem.result == Result::upper) && family_of(config).traits.stores_whole_tiles;
}

bool has_finishing_step(const GemmProblem& problem, const KernelConfig& config, EpiloguePlace place) {
    return (place == EpiloguePlace::step && problem.epilogue != Epilogue::none) || gate_is_a_step(problem, config) ||
           triangle_is_a_step(problem, config);
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

FinishedSums finished_sums(const GemmProblem& problem, const GemmProblem& product, const KernelConfig& config, EpiloguePlace place) {
    if (!has_finishing_step(problem, config, place)) return {};
    if (adds_parts(product, config)) return {.parts = partial_results(config)};
    if (sums_stand_in_c(problem, product, config)) return {.parts = 1};
    return {.parts = 1, .bytes = product.batch * product.m * product.ldc * sum_bytes(problem)};
}

KernelSignature signature_of_product(const GemmProblem& product, const KernelConfig& config) {
    const auto signature = family_of(config).launch.signature;
    return signature ? signature(product, config) : signature_of(product);
}

KernelSignature main_signature(const GemmProblem& problem, const KernelConfig& config) {
    return signature_of_product(product_problem(problem, config), config);
}

}  // namespace tmm
