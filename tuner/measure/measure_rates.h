// Measures in a second or two what predictions take of a device itself.
#pragma once

#include <memory>

#include "generator/machine/measured_rates.h"
#include "runtime/device/device.h"

namespace tmm {

// Throws Error where kernels do not compile or memory is short, DeviceFault where the device is lost. Whether the rates are to be trusted
// is for the caller to ask (why_untrusted).
MeasuredRates measure_rates(const std::shared_ptr<Device>& device);

}  // namespace tmm
