#include "generator/plan/workspace_estimate.h"

#include "generator/plan/finishing_step.h"
#include "generator/problem/matrix_layout.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

// More bytes than the workspace of any plan, but for stream-K's parts, which the device bounds: partial results, a gate's sums, and, where
// steps copy the operands, of each at most three planes of 16 bits, exponents of its lines and sums of its strips.
double most_workspace(const GemmProblem& p, const KernelConfig& c) {
    const auto padded = [](std::int64_t size) { return static_cast<double>(size) + 1024; };
    const bool copies = c.pack_ab != 0 || c.planes > 1;
    const double operands = copies ? 32 * (padded(p.m) + padded(p.n)) * padded(p.k) : 0;
    const double results = partial_results(c) > 1 ? 16.0 * partial_results(c) * padded(p.m) * padded(p.n) : 0;
    const double gated = is_gate(p.activation) ? sum_bytes(p) * padded(p.m) * padded(p.n) : 0;
    return static_cast<double>(p.batch) * (operands + results + gated);
}

}  // namespace

double workspace_estimate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    if (is_empty(problem)) return 0;
    constexpr double more_than_devices_have = 0x1p60;
    if (const double most = most_workspace(problem, config); most > more_than_devices_have) return most;
    return static_cast<double>(geometry_with_sums(problem, config, device).workspace.bytes);
}

}  // namespace tmm
