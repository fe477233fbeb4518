// Square tiles in shared memory, one element a thread: the kernel of the tutorials.
#include "tmm/families/tiled/rules.h"

#include <cmath>

#include "generator/families/candidate_choices.h"
#include "generator/families/family.h"
#include "generator/families/host_cost.h"
#include "generator/families/naive_and_tiled_estimate.h"
#include "generator/steps/arguments.h"

namespace tmm {
namespace {

using C = KernelConfig;

std::vector<Search::Candidate> candidates(const GemmProblem& p, const DeviceInfo&) {
    std::vector<Search::Candidate> candidates;
    if (one_type_or_bytes_violation(signature_of(p))) return candidates;
    for (const int width : {32, 16, 8, 4}) {
        for (const int mode : {boundary::exact, boundary::guarded}) {
            if (mode == boundary::guarded && divides(Extent{.rows = p.m, .columns = p.n}, p.k, width, width, width)) continue;
            candidates.push_back({{.family = family::tiled, .block_m = width, .block_n = width, .block_k = width, .boundary = mode}});
        }
    }
    return candidates;
}

PredictedTime estimate(const Schedule& s, const DeviceInfo& device) {
    return naive_and_tiled_estimate(s, device,
                                    {.share_of_fma_rate = s.config.block_m >= 16 ? 0.12 : 0.05,
                                     .waits = 0.8 / 0.68 * std::ceil(static_cast<double>(s.product.k) / s.config.block_k)});
}
double host_estimate(const Schedule& s) {
    return host_time_of_tiles(s, 2 * (host_cost::kSwitch + host_cost::kCopy), host_cost::kFmaFromTile);
}
PhaseLoads phase_loads(const KernelConfig& c) {
    return {.elements = 2, .by_copy_engine = false, .flop_per_load = flop_per_load_of_tile(c)};
}

}  // namespace

extern constexpr Family kTiled{
    .number = family::tiled,
    .traits = {.multiplies_by_fma = true, .moves_single_elements_of_ab = true, .moves_single_elements_of_c = true},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::boundary, &C::overlap),
              .violation = tiled::first_violation,
              .threads = tiled::threads,
              .shared_bytes = tiled::shared_bytes,
              .blocks = tiled::blocks},
    .search = {.candidates = candidates},
    .model = {.estimate = estimate, .host_estimate = host_estimate, .phase_loads = phase_loads},
    .launch = {},
};

}  // namespace tmm
