// One thread computes one element, straight from global memory: a kernel to be read and to be compared with, which always works.
#include "tmm/families/naive/rules.h"

#include "generator/families/family.h"
#include "generator/families/host_cost.h"
#include "generator/families/naive_and_tiled_estimate.h"
#include "generator/problem/matrix_layout.h"
#include "generator/steps/arguments.h"

namespace tmm {
namespace {

using C = KernelConfig;

constexpr KernelConfig kPlainest{.family = family::naive, .block_m = 8, .block_n = 32};

std::vector<Search::Candidate> candidates(const GemmProblem&, const DeviceInfo&) {
    return {{kPlainest}};
}
// Tiny products take the time of a launch, whatever is done in them.
std::vector<KernelConfig> defaults(const GemmProblem&, const DeviceInfo&) {
    return {kPlainest};
}

PredictedTime estimate(const Schedule& s, const DeviceInfo& device) {
    return naive_and_tiled_estimate(s, device, {.share_of_fma_rate = 0.04, .waits = 0.04 / 0.68 * static_cast<double>(s.product.k)});
}
double host_estimate(const Schedule& s) {
    return elements_of_c(s.product) * static_cast<double>(s.product.k) * host_cost::kFmaFromMemory;
}
PhaseLoads phase_loads(const KernelConfig&) {
    return {.elements = 2, .by_copy_engine = false, .flop_per_load = 1};
}

}  // namespace

KernelConfig plainest_config() {
    return kPlainest;
}

extern constexpr Family kNaive{
    .number = family::naive,
    .traits = {.multiplies_by_fma = true, .serves_any_size = true, .moves_single_elements_of_ab = true, .moves_single_elements_of_c = true},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::boundary, &C::overlap),
              .violation = naive::first_violation,
              .threads = naive::threads,
              .shared_bytes = naive::shared_bytes,
              .blocks = naive::blocks},
    .search = {.candidates = candidates, .defaults = defaults},
    .model = {.estimate = estimate, .host_estimate = host_estimate, .phase_loads = phase_loads},
    .launch = {},
};

}  // namespace tmm
