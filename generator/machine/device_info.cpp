#include "generator/machine/device_info.h"

#include <unistd.h>

namespace tmm {

DeviceInfo host_device_info() {
    DeviceInfo info;
    info.name = kEmulatedName;
    info.emulated = true;
    info.compute_capability_major = 8;
    info.compute_capability_minor = 0;
    info.sm_count = 4;
    info.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    info.l2_bytes = 1 << 20;
    info.shared_bytes_per_block = 163 << 10;
    info.shared_bytes_per_sm = 164 << 10;
    info.registers_per_sm = 65536;
    info.max_threads_per_sm = 2048;
    info.profile = profile_of(info);
    return info;
}

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
