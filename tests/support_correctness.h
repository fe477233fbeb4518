// Runs sampled configs on devices and holds every result against the references.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "support_config_sampler.h"

namespace tmm::testing {

struct CorrectnessReport {
    int configs = 0;
    int problems = 0;
    double worst_error_ratio = 0;
    // What went wrong and how to repeat it, one a line.
    std::vector<std::string> failures;
};

// Every sample on every device, until `seconds` have passed (0: no limit). Kernels are compiled ahead on all cores. planned_for: the device
// that plans are made for, which the emulated one may stand in for.
CorrectnessReport check_samples(const std::vector<Sample>& samples, const std::vector<std::shared_ptr<Device>>& devices,
                                const DeviceInfo& planned_for, double seconds);

// TMM_TEST_<name>, or the value given where it is not set.
long long test_setting(const char* name, long long otherwise);

}  // namespace tmm::testing
