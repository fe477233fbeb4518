// A tuning database that somebody else could have planted: its winners are legal, but such as no search would find.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/device/device.h"
#include "tests/support/kernels/config_sampler.h"

namespace tmm::testing {

struct PlantedRow {
    GemmProblem problem;
    KernelConfig config;
};

// Makes rows, each of a problem of its own: sampled configs with up to three fields set to whatever the rules let pass.
std::vector<PlantedRow> unusual_rows(const SamplerOptions& options, const DeviceInfo& device);

// Writes the rows to a database, has a handle's winners read from it, and runs what is chosen for each row's problem, which must be the row
// itself, and for one near to it. It takes one row in `slices`; TMM_TEST_FULL=1 takes all.
void check_planted_rows(const std::vector<PlantedRow>& rows, const std::vector<std::shared_ptr<Device>>& devices, std::uint64_t seed,
                        std::size_t slices);

}  // namespace tmm::testing
