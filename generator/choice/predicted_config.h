// The config of a problem that was not tuned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

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
// The configs that an untuned problem is likely to be served fastest by, at most so many, the default config first and then others as they
// are predicted. No two have one tile and one way to split K.
std::vector<KernelConfig> likely_configs(const GemmProblem& problem, const DeviceInfo& device, std::int64_t most_workspace,
                                         std::size_t most);

}  // namespace tmm
