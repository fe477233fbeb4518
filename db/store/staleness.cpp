#include "db/store/staleness.h"

#include <algorithm>
#include <vector>

#include "generator/choice/validity.h"
#include "generator/plan/launch_plan.h"

namespace tmm {
namespace {

bool is_today(const std::vector<MeasuredCandidate>& rows, const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device,
              KernelBook& book) {
    if (why_invalid(problem, config, device)) return false;
    const std::string hash = kernel_hash(make_launch_plan(problem, config, device), book);
    return std::any_of(rows.begin(), rows.end(), [&](const MeasuredCandidate& row) { return row.measurement.kernel_hash == hash; });
}

}  // namespace

Staleness staleness(const GemmProblem& problem, const TuningDatabase::Decision& decision, const Environment& now, TuningDatabase& database,
                    KernelBook& book) {
    std::vector<MeasuredCandidate> rows = database.deciding_measurements(problem);
    std::erase_if(rows, [&](const MeasuredCandidate& row) { return row.config != decision.config; });
    return {.driver = decision.driver_version != now.device.driver_version,
            .nvrtc = decision.nvrtc_version != now.nvrtc_version,
            .kernels = !rows.empty() && !is_today(rows, problem, decision.config, now.device, book),
            .unmeasured = rows.empty(),
            .back_to_back = decision.back_to_back};
}

}  // namespace tmm
