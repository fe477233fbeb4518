// What the copy engine can bring.
#pragma once

#include <optional>
#include <string>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Why it can't bring the problem's operands; stores: nor bring results to C.
std::optional<std::string> why_no_tma(const GemmProblem& problem, const DeviceInfo& device, bool stores);

}  // namespace tmm
