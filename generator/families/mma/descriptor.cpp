// The family for tensor cores that warps use: mma.sync, ldmatrix, cp.async.
#include "tmm/families/mma/rules.h"

#include "generator/families/family.h"
#include "generator/families/host_cost.h"
#include "generator/families/mma/mma.h"
#include "generator/steps/arguments.h"

namespace tmm {
namespace {

using C = KernelConfig;

std::optional<std::string> rejection(const Schedule&, const DeviceInfo& device) {
    if (device.compute_capability() < 80) return "mma.sync of 16 x 8 x 16 needs compute capability 8.0";
    return std::nullopt;
}
i64 longest_chain(const KernelSignature& s, const KernelConfig&, i64 k) {
    return mma::longest_chain(s, k);
}
SumOrder sum_order(const KernelSignature& s, const KernelConfig&) {
    return s.type_a == ElementType::f64 ? SumOrder::fmas : SumOrder::mma;
}
Rank rank(const GemmProblem& p, const DeviceInfo& device) {
    const MachineProfile& machine = device.profile;
    const bool is_faster = is_16_bit(p.type_a) || p.type_a == ElementType::s8 ||
                           (p.type_a == ElementType::f64 && machine.mma_64_per_clock > machine.double_fmas_per_clock);
    return {.uses_tensor_cores = is_faster && device.compute_capability() >= 80, .is_hard_to_compare = true};
}

double host_estimate(const Schedule& s) {
    const KernelConfig& c = s.config;
    const double vectors = static_cast<double>(c.block_m + c.block_n) * c.block_k / c.vector_width / mma::threads(c);
    const double products = mma::accumulators(c) / 4.0 * c.block_k / mma::instruction_k(s.signature);
    const double copies = vectors * (c.async_copy != 0 ? host_cost::kAsyncCopy : host_cost::kCopy);
    return host_time_of_tiles(s, host_cost::kSwitch + copies + 1.5 * products * host_cost::kWarpOperation, 0);
}
PhaseLoads phase_loads(const KernelConfig& c) {
    return {.elements = static_cast<double>(c.block_k) * (c.block_m + c.block_n) / mma::threads(c),
            .by_copy_engine = false,
            .flop_per_load = flop_per_load_of_tile(c)};
}

}  // namespace

extern constexpr Family kMma{
    .number = family::mma,
    .traits = {.walks_triangles = true},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::warps_m, &C::warps_n, &C::stages, &C::async_copy,
                               &C::vector_width, &C::boundary, &C::split_k, &C::raster, &C::min_blocks, &C::overlap),
              .violation = mma::first_violation,
              .threads = mma::threads,
              .shared_bytes = mma::shared_bytes,
              .blocks = mma::blocks,
              .rejection = rejection,
              .accumulators = mma::accumulators,
              .sum_order = sum_order,
              .longest_chain = longest_chain},
    .search = {.candidates = mma_candidates, .defaults = mma_defaults, .rank = rank},
    .model = {.estimate = mma_estimate, .host_estimate = host_estimate, .phase_loads = phase_loads},
    .launch = {},
};

}  // namespace tmm
