// How long a config is taken to run, so that likely candidates come first and hopeless ones are left out.
#pragma once

#include <optional>

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "generator/plan/epilogue_place.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Each family has a model of its own (Product::estimate). This one keeps references to what it is made of, and is one thread's.
class CostModel {
public:
    CostModel(const GemmProblem& problem, const DeviceInfo& device) : problem_(problem), device_(device) {}

    // How long a valid config's whole plan takes; good to a factor of two. What an epilogue takes within the kernel is not in it.
    PredictedTime predict(const KernelConfig& config, EpiloguePlace place = EpiloguePlace::kernel) const;
    // Microseconds that the epilogue adds to a kernel at least.
    double least_of_epilogue() const;
    // Its total, in microseconds.
    double estimate(const KernelConfig& config) const { return predict(config).total(); }
    // The config with the better overlap, by the estimate.
    KernelConfig with_better_overlap(KernelConfig config) const;

private:
    // The plan's time without what stands between it and the kernel before.
    PredictedTime alone(const KernelConfig& config) const;
    PredictedTime work_out_alone(const KernelConfig& config) const;
    // The time by the family's own model; what that leaves out is that many blocks begin to add up parts.
    double beginning_of_sums(const KernelConfig& config) const;
    // What overlap costs.
    double crowding(const KernelConfig& config) const;

    const GemmProblem& problem_;
    const DeviceInfo& device_;
    // The last config that was asked about, without overlap, which is no part of its time alone: whoever asks for the better overlap asks
    // for the time, too.
    mutable std::optional<KernelConfig> last_;
    mutable PredictedTime last_alone_;
};

}  // namespace tmm
