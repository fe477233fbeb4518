// How long a config is taken to run, so that likely candidates come first and hopeless ones are left out.
#pragma once

#include <optional>
#include <string>

#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "generator/plan/resolve.h"
#include "generator/schedule/schedule.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// How long a valid config's whole plan takes; good to a factor of two. Each family has a model of its own (Model::estimate). What an
// epilogue takes within the kernel is not in it.
PredictedTime predict(const Schedule& schedule, const DeviceInfo& device);

// The config with the better overlap, by the prediction, and its time.
struct PredictedConfig {
    KernelConfig config;
    PredictedTime time;
};
PredictedConfig with_better_overlap(Schedule schedule, const DeviceInfo& device);

// The same of configs of one problem. It keeps references to what it is made of.
class CostModel {
public:
    CostModel(const GemmProblem& problem, const DeviceInfo& device) : problem_(problem), device_(device) {}

    PredictedTime predict(const KernelConfig& config, EpiloguePlace place = EpiloguePlace::kernel) const {
        return tmm::predict(schedule_of(problem_, config, device_, place), device_);
    }
    // Its total, in microseconds.
    double estimate(const KernelConfig& config) const { return predict(config).total(); }
    // Microseconds that the epilogue adds to a kernel at least.
    double least_of_epilogue() const;

private:
    const GemmProblem& problem_;
    const DeviceInfo& device_;
};

// Why so many multiplications of the problem are more than a minute's work for the emulated device; nothing where they are less, or on
// another device.
std::optional<std::string> why_too_large(const GemmProblem& problem, const DeviceInfo& device, double multiplications);

}  // namespace tmm
