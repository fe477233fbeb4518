// The family that always works.
#pragma once

#include "tmm/vocabulary/config.h"

namespace tmm {

// The naive family's usual config: valid for every problem on every device.
KernelConfig plainest_config();

}  // namespace tmm
