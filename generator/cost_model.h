// How long a config is taken to run, so that likely candidates come first and hopeless ones are left out.
#pragma once

#include "generator/device_info.h"
#include "tmm/config.h"
#include "tmm/problem.h"

namespace tmm {

// A rough model: multiply-adds at the rate that the config's tile sustains, bytes at memory speed, both stretched by the last wave's
// idle SMs. It keeps references to what it is made of.
class CostModel {
public:
    CostModel(const GemmProblem& problem, const DeviceInfo& device) : problem_(problem), device_(device) {}

    // Microseconds of a valid config's whole plan; good to a factor of two.
    double estimate(const KernelConfig& config) const;
    // The config with the better overlap, by the estimate.
    KernelConfig with_better_overlap(KernelConfig config) const;

private:
    // Without what stands between it and the kernel before.
    double alone(const KernelConfig& config) const;
    // What overlap costs.
    double crowding(const KernelConfig& config) const;
    double latency(const KernelConfig& config) const;
    double fma_share(const KernelConfig& config) const;
    double resident_blocks(const KernelConfig& config) const;

    const GemmProblem& problem_;
    const DeviceInfo& device_;
};

// Bytes of workspace that a config's plan asks for, or a little more; in floating point, which does not overflow where a plan would
// never be made.
double workspace_estimate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

}  // namespace tmm
