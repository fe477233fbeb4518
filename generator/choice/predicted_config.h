// The config of a problem that was not tuned.
#pragma once

#include <cstdint>
#include <limits>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// The config is always valid and always right, whatever the problem; it is not the fastest.
KernelConfig fallback_config();
// What an untuned problem gets: a config that is valid, and a fair guess at fast; it needs no more than most_workspace bytes of workspace,
// unless all that are looked at do, of a gate's sums: it is the fallback then.
KernelConfig default_config(const GemmProblem& problem, const DeviceInfo& device,
                            std::int64_t most_workspace = std::numeric_limits<std::int64_t>::max());

}  // namespace tmm
