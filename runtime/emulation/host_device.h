// The emulated device: runs kernels that the system's C++ compiler made (generator/compile/host_compiler.cpp) on the CPU. It is for tests
// and a first look; its times say nothing about a GPU.
#pragma once

#include <memory>
#include <string>

#include "runtime/device/device.h"

namespace tmm {

// thread_order: "ascending", "descending", "shuffled[:seed]" or "straggling:thread". Throws Error (usage) where it is none of these.
std::shared_ptr<Device> make_host_device(const std::string& thread_order);
// Stands in for a GPU with as much shared memory as `device`: its kernels run, whatever the emulated device would be offered.
std::shared_ptr<Device> make_host_device_for(const DeviceInfo& device, const std::string& thread_order);
// The threads run in the order that TMM_HOST_ORDER names.
std::shared_ptr<Device> make_host_device();

}  // namespace tmm
