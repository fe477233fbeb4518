// A device of each compute capability that tmm knows, for whoever asks about a GPU that is not there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "generator/machine/device_info.h"

namespace tmm {

// "90", "sm_90", "sm_90a" or "9.0". Throws Error (usage) that lists what is known.
DeviceInfo assumed_device(std::string_view architecture);

// The device of which little more than name, compute capability and SMs were kept, with the limits and the profile of its model or
// generation; nothing where tmm does not know the compute capability.
std::optional<DeviceInfo> remembered_device(const DeviceInfo& kept);

}  // namespace tmm
