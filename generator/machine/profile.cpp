#include "generator/machine/profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "generator/machine/device_info.h"
#include "generator/machine/measured_rates.h"

namespace tmm {
namespace {

using Origin = MachineProfile::Origin;

// The models were fitted to 20,000 measured configs on an H200 (700 W), and these numbers with them.
constexpr MachineProfile kH200 = {
    .origin = Origin::shipped,
    .unmeasured = Origin::shipped,
    .clock = 1980,
    .fma_clock = 1950,
    .tensor_clock = 1900,
    .fmas_per_clock = 128,
    .double_fmas_per_clock = 64,
    .wgmma_8_per_clock = 4096,
    .wgmma_16_per_clock = 2048,
    .wgmma_tf32_per_clock = 1024,
    // mma.sync reaches this part of what wgmma does.
    .mma_16_per_clock = 0.6 * 2048,
    .mma_64_per_clock = 128,
    .mma_8_per_clock = 0.6 * 4096,
    .memory_bytes = 4.6e6,
    .l2_bytes_per_clock = 75,
    .stored_bytes_per_clock = 30,
    .shared_bytes_per_clock = 128,
    .cluster_bytes = 3.5e4,
    .memory_latency = 0.68,
    .launch = 0.7,
    .kernel_gap = 0.6,
    .second_kernel = 2.1,
    .cluster_sync = 0.35,
    .power = {.after = 100, .multiplying = 0.9, .moving = 11},
    // cudaOccupancyMaxActiveClusters of blocks that fill an SM, on 132 SMs.
    .clusters_of_sm = {1, 66.0 / 132, 39.0 / 132, 30.0 / 132, 22.0 / 132, 17.0 / 132, 15.0 / 132, 15.0 / 132},
};

// The same SMs before slower memory. The numbers that differ were fitted to 10,900 measured configs of 307 problems on an H100 (80GB HBM3,
// 700 W); memory's rate is the same part of the data sheet's as on the H200.
constexpr MachineProfile kH100 = [] {
    MachineProfile profile = kH200;
    profile.tensor_clock = 1950;
    profile.memory_bytes = 3.2e6;
    profile.l2_bytes_per_clock = 60;
    profile.stored_bytes_per_clock = 28;
    profile.memory_latency = 0.55;
    profile.kernel_gap = 0.75;
    profile.second_kernel = 1.4;
    profile.cluster_sync = 0.6;
    return profile;
}();

struct Known {
    // The name as the driver spells it.
    std::string_view name;
    MachineProfile profile;
};
constexpr Known kShipped[] = {
    {"NVIDIA H200", kH200},
    {"NVIDIA H100 80GB HBM3", kH100},
};

// What generations differ in, by NVIDIA's architecture whitepapers and the programming guide's table of arithmetic throughput. What an SM
// gets out of the L2 cache, and memory's latency, are guesses.
struct Generation {
    int compute_capability;
    double fmas_per_clock;
    double double_fmas_per_clock;
    double mma_16_per_clock;
    double mma_64_per_clock;
    double mma_8_per_clock;
    double shared_bytes_per_clock;
    double l2_bytes_per_clock;
    double memory_latency;
};
constexpr Generation kGenerations[] = {
    {75, 64, 2, 256, 0, 0, 64, 32, 0.6},
    {80, 64, 32, 1024, 64, 2048, 128, 45, 0.65},
    // GPUs for graphics multiply at half of their rate where sums are floats.
    {86, 128, 2, 256, 2, 1024, 128, 32, 0.6},
    {87, 128, 2, 512, 2, 2048, 128, 32, 0.7},
    {89, 128, 2, 256, 2, 1024, 128, 40, 0.6},
    {90, kH200.fmas_per_clock, kH200.double_fmas_per_clock, kH200.mma_16_per_clock, kH200.mma_64_per_clock, kH200.mma_8_per_clock, 128,
     kH200.l2_bytes_per_clock, kH200.memory_latency},
    // mma.sync does not reach the rate of the later units either.
    {100, 128, 64, kH200.mma_16_per_clock, 64, kH200.mma_8_per_clock, 128, 75, 0.75},
    {103, 128, 2, kH200.mma_16_per_clock, 2, 512, 128, 75, 0.75},
    {110, 128, 2, 256, 2, 1024, 128, 40, 0.8},
    {120, 128, 2, 256, 2, 1024, 128, 40, 0.7},
};

// Memory's rate in GB/s and the boost clock in MHz, by NVIDIA's data sheets. Of each compute capability the first stands for GPUs of which
// nothing else is known.
struct DataSheet {
    std::string_view name;
    int compute_capability;
    double memory;
    double clock;
};
constexpr DataSheet kDataSheets[] = {
    {"Tesla T4", 75, 320, 1590},
    {"NVIDIA A100-SXM4-80GB", 80, 2039, 1410},
    {"NVIDIA A100 80GB PCIe", 80, 1935, 1410},
    {"NVIDIA A100-SXM4-40GB", 80, 1555, 1410},
    {"NVIDIA A100-PCIE-40GB", 80, 1555, 1410},
    {"NVIDIA GeForce RTX 3090", 86, 936, 1695},
    {"NVIDIA A10", 86, 600, 1695},
    {"NVIDIA A10G", 86, 600, 1710},
    {"Orin", 87, 205, 1300},
    {"NVIDIA GeForce RTX 4090", 89, 1008, 2520},
    {"NVIDIA L40S", 89, 864, 2520},
    {"NVIDIA L4", 89, 300, 2040},
    {"NVIDIA H100 PCIe", 90, 2039, 1755},
    {"NVIDIA H100 NVL", 90, 3938, 1785},
    {"NVIDIA H200 NVL", 90, 4813, 1785},
    {"NVIDIA GH200 480GB", 90, 4023, 1980},
    {"NVIDIA B200", 100, 8000, 1965},
    {"NVIDIA B300", 103, 8000, 1920},
    {"NVIDIA Thor", 110, 273, 1575},
    {"NVIDIA GeForce RTX 5090", 120, 1792, 2407},
    {"NVIDIA GB10", 121, 273, 2418},
};

// The generation of the capability, or the newest before it.
const Generation& generation_of(int compute_capability) {
    const Generation* found = &kGenerations[0];
    for (const Generation& generation : kGenerations)
        if (generation.compute_capability <= compute_capability) found = &generation;
    return *found;
}

const DataSheet& typical_of(int compute_capability) {
    const DataSheet* found = &kDataSheets[0];
    for (const DataSheet& sheet : kDataSheets)
        if (sheet.compute_capability <= compute_capability && sheet.compute_capability > found->compute_capability) found = &sheet;
    return *found;
}

// What is not of the generation is as on the H200, in parts of the clock and of memory's rate.
MachineProfile made_of(Origin origin, int compute_capability, double clock, double memory_bytes) {
    // An H200's memory gives this part of what its data sheet says.
    constexpr double reached = 4.6 / 4.8;
    const Generation& generation = generation_of(compute_capability);
    MachineProfile profile = kH200;
    profile.origin = profile.unmeasured = origin;
    profile.clock = clock;
    profile.fma_clock = clock * kH200.fma_clock / kH200.clock;
    profile.tensor_clock = clock * kH200.tensor_clock / kH200.clock;
    profile.fmas_per_clock = generation.fmas_per_clock;
    profile.double_fmas_per_clock = generation.double_fmas_per_clock;
    profile.mma_16_per_clock = generation.mma_16_per_clock;
    profile.mma_64_per_clock = generation.mma_64_per_clock;
    profile.mma_8_per_clock = generation.mma_8_per_clock;
    profile.memory_bytes = reached * memory_bytes;
    profile.l2_bytes_per_clock = generation.l2_bytes_per_clock;
    profile.stored_bytes_per_clock = kH200.stored_bytes_per_clock * generation.l2_bytes_per_clock / kH200.l2_bytes_per_clock;
    profile.shared_bytes_per_clock = generation.shared_bytes_per_clock;
    profile.cluster_bytes = kH200.cluster_bytes * clock / kH200.clock;
    profile.memory_latency = generation.memory_latency;
    return profile;
}

MachineProfile made_of(Origin origin, const DataSheet& sheet, int compute_capability) {
    constexpr double bytes_per_microsecond = 1e3;
    return made_of(origin, compute_capability, sheet.clock, sheet.memory * bytes_per_microsecond);
}

std::optional<MachineProfile> made_of_driver(const DeviceInfo& device) {
    if (device.clock_khz <= 0 || device.memory_clock_khz <= 0 || device.memory_bus_bits <= 0) return std::nullopt;
    // Two words come in a clock of memory.
    const double memory_bytes = 2.0 * device.memory_clock_khz * 1e-3 * device.memory_bus_bits / 8;
    return made_of(Origin::driver, device.compute_capability(), device.clock_khz * 1e-3, memory_bytes);
}

// The numbers that measured rates stand for, in place of what is known.
MachineProfile made_of(const MeasuredRates& rates, const MachineProfile& known, int sm_count) {
    // On an H200 these read 4.67 TB/s, and an empty kernel took 0.5 us, where the fit has its profile's numbers.
    constexpr double memory_of_read = kH200.memory_bytes / 4.67e6;
    constexpr double launch_of_gap = kH200.launch / 0.5;
    MachineProfile profile = known;
    profile.origin = Origin::measured;
    profile.memory_bytes = memory_of_read * rates.read_bytes;
    profile.clock = rates.fmas_of_one_sm / known.fmas_per_clock;
    profile.fma_clock = std::min(profile.clock, rates.fmas / (sm_count * known.fmas_per_clock));
    profile.tensor_clock =
        rates.mma_clock > 0 ? std::min(profile.clock, rates.mma_clock) : profile.clock * known.tensor_clock / known.clock;
    if (rates.mma_16 > 0) profile.mma_16_per_clock = rates.mma_16 / (sm_count * profile.tensor_clock);
    profile.cluster_bytes = known.cluster_bytes * profile.clock / known.clock;
    profile.launch = launch_of_gap * rates.launch_gap;
    return profile;
}

// The fit has weighed each number of a shipped profile against all others: a measurement that says nearly the same tells nothing new, and
// one that says something else tells of another card, or of one that is held back. What a launch costs is of the fit alone: no card is held
// back in that.
MachineProfile kept_where_confirmed(const MachineProfile& shipped, const MachineProfile& measured) {
    constexpr double nearly = 1.2;
    MachineProfile profile = shipped;
    for (double MachineProfile::*const number :
         {&MachineProfile::clock, &MachineProfile::fma_clock, &MachineProfile::tensor_clock, &MachineProfile::mma_16_per_clock,
          &MachineProfile::memory_bytes, &MachineProfile::cluster_bytes}) {
        if (measured.*number <= nearly * shipped.*number && shipped.*number <= nearly * measured.*number) continue;
        profile.*number = measured.*number;
        profile.origin = Origin::measured;
    }
    // Numbers of both may stand side by side.
    profile.fma_clock = std::min(profile.fma_clock, profile.clock);
    profile.tensor_clock = std::min(profile.tensor_clock, profile.clock);
    return profile;
}

}  // namespace

std::string_view name_of(MachineProfile::Origin origin) {
    switch (origin) {
        case Origin::measured: return "measured on the device";
        case Origin::shipped: return "shipped with tmm";
        case Origin::data_sheet: return "from its data sheet";
        case Origin::driver: return "from what the driver says";
        case Origin::generation: break;
    }
    return "assumed of its generation";
}

std::string origin_text(const MachineProfile& profile) {
    if (profile.origin == profile.unmeasured) return std::string(name_of(profile.origin));
    return fmt::format("{}; what is not measured is {}", name_of(profile.origin), name_of(profile.unmeasured));
}

MachineProfile profile_of(const DeviceInfo& device) {
    for (const Known& known : kShipped)
        if (known.name == device.name) return known.profile;
    for (const DataSheet& sheet : kDataSheets)
        if (sheet.name == device.name) return made_of(Origin::data_sheet, sheet, device.compute_capability());
    if (const auto profile = made_of_driver(device)) return *profile;
    return made_of(Origin::generation, typical_of(device.compute_capability()), device.compute_capability());
}

MachineProfile profile_of(const DeviceInfo& device, const MeasuredRates& rates) {
    const MachineProfile known = profile_of(device);
    if (!why_untrusted(rates, device).empty()) return known;
    const MachineProfile measured = made_of(rates, known, device.sm_count);
    return known.origin == Origin::shipped ? kept_where_confirmed(known, measured) : measured;
}

}  // namespace tmm
