// Runs sampled configs on devices and holds every result against the references.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "tests/support/kernels/config_sampler.h"

namespace tmm::testing {

// Checks every sample on every device, until TMM_TEST_SECONDS have passed. Prints how many there were, `where`, and the seed, which repeats
// the run. Kernels are compiled ahead on all cores. planned_for: the device that plans are made for, which the emulated one may stand in
// for.
void check_samples(const std::vector<Sample>& samples, const std::vector<std::shared_ptr<Device>>& devices, const DeviceInfo& planned_for,
                   std::uint64_t seed, const std::string& where);

// TMM_TEST_<name>, or the value given where it is not set.
long long test_setting(const char* name, long long otherwise);
// TMM_TEST_SEED, or the usual seed.
std::uint64_t test_seed();

}  // namespace tmm::testing
