#include "tuner/remembered.h"

#include <algorithm>

#include "db/records.h"
#include "db/verified_times.h"
#include "generator/search_space.h"

namespace tmm {
namespace {

constexpr std::size_t kFastest = 8;

}  // namespace

std::vector<KernelConfig> remembered_configs(const GemmProblem& problem, const std::vector<MeasuredCandidate>& rows,
                                             const DeviceInfo& device) {
    std::vector<KernelConfig> configs;
    const auto add = [&](const KernelConfig& config) {
        // Rows of other compute modes are among them.
        if (std::find(configs.begin(), configs.end(), config) == configs.end() && !why_invalid(problem, config, device) &&
            !why_inaccurate(problem, config))
            configs.push_back(config);
    };
    for (const MeasuredCandidate& row : verified_times(rows)) {
        if (configs.size() == kFastest) break;
        add(row.config);
    }
    for (const WinnerRow& winner : shipped_winners())
        if (winner.problem == problem && winner.device == device.name && winner.compute_capability == device.compute_capability())
            add(winner.config);
    return configs;
}

}  // namespace tmm
