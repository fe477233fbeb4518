// What a device offers, as far as generating and choosing kernels depends on it.
#pragma once

#include <cstdint>
#include <string>

#include "generator/machine/profile.h"

namespace tmm {

// The name of the emulated device.
inline constexpr const char* kEmulatedName = "host";

struct DeviceInfo {
    // The name as the driver spells it ("NVIDIA H200"), or kEmulatedName.
    std::string name;
    bool emulated = false;
    int compute_capability_major = 0;
    int compute_capability_minor = 0;
    int sm_count = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t l2_bytes = 0;
    // Largest dynamic shared memory of one block, after opting in.
    std::int64_t shared_bytes_per_block = 0;
    std::int64_t shared_bytes_per_sm = 0;
    int registers_per_sm = 0;
    int max_threads_per_sm = 0;
    // The power limit in watts; 0 where it can't be read.
    int power_limit = 0;
    // The version as cuDriverGetVersion gives it (13000 for 13.0); 0 for the emulated device.
    int driver_version = 0;
    // As the driver gives them; 0 where it does not.
    int clock_khz = 0;
    int memory_clock_khz = 0;
    int memory_bus_bits = 0;
    // What the device can do, as cost models see it (profile_of).
    MachineProfile profile = {};

    int compute_capability() const { return compute_capability_major * 10 + compute_capability_minor; }
    // Blocks that every device with clusters takes (CUDA Programming Guide, "Thread Block Clusters").
    int largest_cluster() const { return emulated || compute_capability() >= 90 ? 8 : 1; }
    // The copy engine that brings boxes of matrices to shared memory. The emulated device has one where it plays a GPU.
    bool has_tma() const { return !emulated && compute_capability() >= 90; }
    // Do kernels begin while the one before them ends (programmatic dependent launch)?
    bool overlaps_kernels() const { return !emulated && compute_capability() >= 90; }
};

// The emulated device: an SM of compute capability 8.0 with Ampere's limits.
DeviceInfo host_device_info();

// What tells one model of device from another, and all that a winner keeps of the device it was tuned on.

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
