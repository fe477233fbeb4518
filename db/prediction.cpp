#include "db/prediction.h"

#include "generator/machine/assumed_device.h"
#include "generator/prediction/cost_model.h"
#include "generator/validity/validity.h"

namespace tmm {

std::optional<PredictedTime> predicted_time(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    const std::optional<DeviceInfo> known = remembered_device(device);
    if (!known) return std::nullopt;
    // Measurements serve every compute mode, so that some of a problem's configs were measured for another one.
    for (const ComputeMode mode : {problem.compute, ComputeMode::f32, ComputeMode::tf32}) {
        GemmProblem in_mode = problem;
        in_mode.compute = mode;
        if (!why_invalid(in_mode, config, *known)) return CostModel(in_mode, *known).predict(config);
    }
    return std::nullopt;
}

}  // namespace tmm
