// The option --gpu of the tools that run kernels.
#pragma once

#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace tmm {

// "0", "0,1", "all", "host" or "auto" as ordinals, at least one; kHostDevice is the emulation. Says on stderr, for `tool`, what "auto"
// became. "all" where there is no GPU is GPU 0, so that what opens it says what is missing. Throws Error (usage).
std::vector<int> parse_gpus(const std::string& text, const std::string& tool);

// The same for a tool that takes one device: where several are named, it refuses and says what to do instead.
int parse_gpu(const std::string& text, const std::string& tool);

}  // namespace tmm
