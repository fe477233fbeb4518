// The devices of a process whose products tmm may multiply.
#pragma once

#include "runtime/dropin/cublas/device_products.h"

namespace tmm::dropin {

// The device of the calling thread's context, or the emulated one where TMM_DEVICE says so. Null where its products are left alone: it is
// not the one that TMM_DEVICE names, the context is not the device's primary one, or there is no driver. Throws std::bad_alloc.
DeviceProducts* current_device();

}  // namespace tmm::dropin
