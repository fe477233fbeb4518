// Where a problem's epilogue is applied faster: in the kernel that multiplies, or in a step behind a plain product.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "runtime/plan/executable_plan.h"
#include "runtime/select/plan_request.h"
#include "runtime/select/selection.h"

namespace tmm {

struct EpilogueRace {
    // Medians, of device time where the device has a clock of its own.
    double kernel_us = 0;
    double step_us = 0;

    bool is_won_by_step() const;
};

// The races that a handle has seen, or as many of them as it keeps. Thread-safe.
class EpilogueRaces {
public:
    static constexpr std::size_t kMost = 4096;

    std::optional<EpilogueRace> find(const PlanRequest& request) const;
    // Returns the race that is kept, which is the one before where the request has one.
    EpilogueRace add(const PlanRequest& request, const EpilogueRace& race);

private:
    mutable std::mutex mutex_;
    std::unordered_map<PlanRequest, EpilogueRace, PlanRequestHash> races_;
};

// What the two places are predicted to take; nothing of the emulated device, whose times say nothing.
struct PredictedPlaces {
    double kernel_us = 0;
    double step_us = 0;

    // Predictions differ from times by more than measurements do from each other.
    bool step_is_faster() const { return step_us < 0.9 * kernel_us; }
};
PredictedPlaces predicted_places(const GemmProblem& problem, const KernelConfig& in_kernel, const KernelConfig& before_step,
                                 const DeviceInfo& device);

// What multiplies where a step applies the request's epilogue: the winner of the plain product. Nothing where the epilogue was tuned, or
// there is none, or the selection leaves it to a step anyway, or the plain product's winner can't be used so.
std::optional<KernelConfig> config_before_step(const PlanRequest& request, const Selection& selection, const Winners& winners);

// Runs both in turn in memory of their own. Throws what the device throws, std::bad_alloc among it.
EpilogueRace race(const ExecutablePlan& in_kernel, const ExecutablePlan& in_step, Device& device);

}  // namespace tmm
