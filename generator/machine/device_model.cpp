#include "generator/machine/device_model.h"

namespace tmm {

DeviceModel model_of(const DeviceInfo& device) {
    return {.name = device.name, .compute_capability = device.compute_capability(), .sm_count = device.sm_count};
}

bool is_emulated(const DeviceModel& model) {
    return model.name == kEmulatedName;
}

DeviceInfo device_of(const DeviceModel& model) {
    DeviceInfo device;
    device.name = model.name;
    device.emulated = is_emulated(model);
    device.compute_capability_major = model.compute_capability / 10;
    device.compute_capability_minor = model.compute_capability % 10;
    device.sm_count = model.sm_count;
    return device;
}

}  // namespace tmm
