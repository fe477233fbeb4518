#include "db/machine/prediction.h"

#include "generator/choice/cost_model.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"

namespace tmm {

std::optional<DeviceInfo> modelled_device(const DeviceInfo& kept) {
    return kept.emulated ? std::nullopt : remembered_device(kept);
}

std::optional<DeviceInfo> modelled_device(const DeviceInfo& kept, TuningDatabase& database) {
    std::optional<DeviceInfo> device = modelled_device(kept);
    if (!device) return std::nullopt;
    if (const auto known = database.known_rates(kept)) device->profile = profile_of(*device, known->rates);
    return device;
}

std::optional<PredictedTime> predicted_time(const GemmProblem& problem, const KernelConfig& config,
                                            const std::optional<DeviceInfo>& device) {
    if (!device) return std::nullopt;
    // Measurements serve every compute mode, so that some of a problem's configs were measured for another one.
    for (const ComputeMode mode : {problem.compute, ComputeMode::f32, ComputeMode::tf32}) {
        GemmProblem in_mode = problem;
        in_mode.compute = mode;
        if (!why_invalid(in_mode, config, *device)) return CostModel(in_mode, *device).predict(config);
    }
    return std::nullopt;
}

}  // namespace tmm
