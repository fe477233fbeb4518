// What tmm-gen --explain prints: the numbers of each kernel of a call.
#pragma once

#include <string>

#include "generator/plan/kernel_steps.h"

namespace tmm {

// The text ends with the reason where the config can't serve the problem. Registers are given where libnvrtc is there.
std::string explanation(const KernelRequest& request);

}  // namespace tmm
