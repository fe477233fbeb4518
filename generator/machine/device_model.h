// What tells one model of device from another, and all that a winner keeps of the device it was tuned on.
#pragma once

#include <string>

#include "generator/machine/device_info.h"

namespace tmm {

struct DeviceModel {
    // As in DeviceInfo.
    std::string name;
    int compute_capability = 0;
    int sm_count = 0;

    friend bool operator==(const DeviceModel&, const DeviceModel&) = default;
};

DeviceModel model_of(const DeviceInfo& device);

// Times of the emulated device say nothing of GPUs, though it has the compute capability of one.
bool is_emulated(const DeviceModel& model);

// A device of the model, of which nothing else is known (remembered_device adds what its kind has).
DeviceInfo device_of(const DeviceModel& model);

}  // namespace tmm
