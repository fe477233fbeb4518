#include "db/prediction.h"

#include "generator/machine/assumed_device.h"
#include "generator/prediction/cost_model.h"
#include "generator/validity/validity.h"

namespace tmm {

std::optional<PredictedTime> predicted_time(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    const std::optional<DeviceInfo> known = remembered_device(device);
    if (!known || why_invalid(problem, config, *known)) return std::nullopt;
    return CostModel(problem, *known).predict(config);
}

}  // namespace tmm
