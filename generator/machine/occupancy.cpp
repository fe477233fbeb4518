// The rules of NVIDIA's occupancy calculator for compute capability 7.5 and newer.
#include "generator/machine/occupancy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace tmm {
namespace {

constexpr int kWarp = 32;
constexpr int kRegistersPerAllocation = 256;
constexpr int kSchedulers = 4;

int most_blocks(int compute_capability) {
    switch (compute_capability) {
        case 75:
        case 86:
        case 87:
        case 88: return 16;
        case 89:
        case 110:
        case 120:
        case 121: return 24;
        default: return 32;
    }
}

// The system keeps so much of every block's shared memory; it is given out in steps.
constexpr std::int64_t reserved_bytes(const DeviceInfo& device) {
    return device.compute_capability_major >= 8 ? 1024 : 0;
}
constexpr std::int64_t shared_step(const DeviceInfo& device) {
    return device.compute_capability_major >= 8 ? 128 : 256;
}

}  // namespace

Occupancy blocks_per_sm(const DeviceInfo& device, int threads, int registers, std::int64_t shared_bytes) {
    const int warps = (threads + kWarp - 1) / kWarp;
    Occupancy occupancy{.blocks = most_blocks(device.compute_capability()), .limit = "blocks"};
    const auto bound = [&](std::int64_t blocks, const char* limit) {
        if (blocks < occupancy.blocks) occupancy = {static_cast<int>(blocks), limit};
    };
    if (warps == 0) return {};
    bound(device.max_threads_per_sm / kWarp / warps, "threads");
    if (registers > 0) {
        const int per_warp = (registers * kWarp + kRegistersPerAllocation - 1) / kRegistersPerAllocation * kRegistersPerAllocation;
        // Each of the four schedulers has a quarter of the registers for its own warps.
        const int warps_held = device.registers_per_sm / kSchedulers / per_warp * kSchedulers;
        bound(warps_held / warps, "registers");
    }
    const std::int64_t step = shared_step(device);
    const std::int64_t taken = (shared_bytes + reserved_bytes(device) + step - 1) / step * step;
    if (taken > 0) bound(device.shared_bytes_per_sm / taken, "shared memory");
    if (shared_bytes > device.shared_bytes_per_block) occupancy = {0, "shared memory"};
    return occupancy;
}

std::int64_t shared_bytes_for(const DeviceInfo& device, int blocks) {
    const std::int64_t step = shared_step(device);
    // The least shared memory with which one block more would find no place.
    return (device.shared_bytes_per_sm / (blocks + 1) / step + 1) * step - reserved_bytes(device);
}

int registers_for(const DeviceInfo& device, int threads_on_sm) {
    constexpr int most = 255;
    constexpr int unit = 8;
    return std::min(most, device.registers_per_sm / threads_on_sm / unit * unit);
}

std::int64_t sms_with_room(std::int64_t blocks, const DeviceInfo& device) {
    const std::int64_t sms = std::max(1, device.sm_count);
    return (sms - blocks % sms) % sms;
}

double sms_for_clusters(const DeviceInfo& device, int size, int resident) {
    const std::array<double, 8>& places = device.profile.clusters_of_sm;
    const double sms = std::max(1, device.sm_count);
    // Where SMs hold several blocks, a cluster needs so many SMs. Larger ones are refused when they are validated.
    const int known = std::clamp((size + resident - 1) / resident, 1, static_cast<int>(places.size()));
    constexpr double rounding = 1e-6;
    const double clusters = std::max(1.0, std::floor(places[static_cast<std::size_t>(known - 1)] * sms + rounding));
    return std::min(sms, clusters * known);
}

double l2_bytes(const DeviceInfo& device) {
    return std::max(1, device.sm_count) * device.profile.l2_bytes_per_clock * device.profile.tensor_clock;
}

double fmas_per_clock(const DeviceInfo& device, ElementType sums) {
    const MachineProfile& machine = device.profile;
    if (sums == ElementType::f64) return machine.double_fmas_per_clock;
    // Since compute capability 7.0 half of an SM's lanes, if not fewer, multiply whole numbers.
    constexpr double of_integers = 64;
    return sums == ElementType::s32 ? std::min(of_integers, machine.fmas_per_clock) : machine.fmas_per_clock;
}

double slots_of_warp_fma(const DeviceInfo& device, ElementType sums) {
    return kWarp * kSchedulers / fmas_per_clock(device, sums);
}

}  // namespace tmm
