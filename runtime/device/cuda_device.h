// A GPU through the CUDA driver.
#pragma once

#include <memory>

#include "runtime/device/device.h"

namespace tmm {

// Retains the primary context of the GPU with that CUDA ordinal. Throws Error (no_device) that says what is missing: the driver,
// or the GPU of that number and how many there are.
std::shared_ptr<Device> make_cuda_device(int ordinal);

}  // namespace tmm
