#include "tuner/search/compile_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tmm {

std::vector<CompileQueue::Result> results_of(const CompileQueue& compiler, const Candidate& candidate) {
    std::vector<CompileQueue::Result> results;
    for (const PlannedKernel* kernel : candidate.kernels)
        results.push_back(compiler.result(kernel->identity).value_or(CompileQueue::Result{}));
    return results;
}

bool is_compiled(const CompileQueue& compiler, const Candidate& candidate) {
    return std::all_of(candidate.kernels.begin(), candidate.kernels.end(),
                       [&](const PlannedKernel* kernel) { return compiler.result(kernel->identity).has_value(); });
}

std::optional<Measurement> rejection(const Candidate& candidate, const std::vector<CompileQueue::Result>& kernels, const DeviceInfo& device,
                                     bool is_default) {
    Measurement m;
    m.shared_bytes = candidate.shared_bytes;
    m.workspace_bytes = candidate.workspace_bytes;
    m.registers = kernels[candidate.main_kernel].registers;
    for (const CompileQueue::Result& kernel : kernels) m.spill_bytes = std::max(m.spill_bytes, kernel.spill_bytes);
    const auto because = [&](Outcome outcome, std::string detail) {
        m.outcome = outcome;
        m.detail = std::move(detail);
        return m;
    };
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (kernels[i].failure) return because(Outcome::compile_failed, *kernels[i].failure);
        if (i >= candidate.main_kernel && kernels[i].spill_bytes > 0 && !is_default)
            return because(Outcome::spills, fmt::format("spills {} bytes of registers", kernels[i].spill_bytes));
        // Registers are given to a warp in units of 8 a thread.
        const int warps = (candidate.threads[i] + 31) / 32;
        const int registers = std::max(kernels[i].registers, 0);
        if (device.registers_per_sm > 0 && warps * 32 * ((registers + 7) / 8 * 8) > device.registers_per_sm)
            return because(Outcome::exceeds_limits, fmt::format("{} threads of {} registers are more than an SM's {}", candidate.threads[i],
                                                                registers, device.registers_per_sm));
    }
    if (device.shared_bytes_per_block > 0 && candidate.shared_bytes > device.shared_bytes_per_block)
        return because(Outcome::exceeds_limits, fmt::format("{} bytes of shared memory are more than a block's {}", candidate.shared_bytes,
                                                            device.shared_bytes_per_block));
    return std::nullopt;
}

}  // namespace tmm
