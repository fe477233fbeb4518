// Which device an ordinal means.
#include "runtime/device/cuda_device.h"
#include "runtime/device/device.h"
#include "runtime/emulation/host_device.h"

namespace tmm {

std::shared_ptr<Device> open_device(int ordinal) {
    return ordinal == kHostDevice ? make_host_device() : make_cuda_device(ordinal);
}

}  // namespace tmm
