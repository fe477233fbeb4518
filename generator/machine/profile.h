// What a device can do: rates by unit, latencies, and what launches cost. All that cost models know of a device beyond its limits stands
// here; what is a property of a kernel's code stands in its family's model.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tmm {

struct DeviceInfo;
struct MeasuredRates;

struct MachineProfile {
    enum class Origin : int {
        // tmm-tune has measured the device itself; what it does not measure is of another origin.
        measured,
        // All numbers were fitted to measurements on the device's model, and ship with tmm.
        shipped,
        // Memory's rate and the clock are its data sheet's, all else is as on other devices of its generation.
        data_sheet,
        // The same, by what the driver says of memory and clock.
        driver,
        // Nothing is known of it but its compute capability.
        generation,
    };
    Origin origin = Origin::generation;
    // Where the numbers are from that tmm-tune does not measure.
    Origin unmeasured = Origin::generation;

    // Clocks of an SM in a microsecond: where little draws power, while FMAs keep the SMs busy, and while tensor cores do.
    double clock = 0;
    double fma_clock = 0;
    double tensor_clock = 0;

    // Multiply-adds of an SM in a clock: by FMAs in float and in double; by wgmma with bytes, 16-bit and TF32 operands; and by mma.sync
    // with 16-bit operands and sums in float, in double, and with bytes.
    double fmas_per_clock = 0;
    double double_fmas_per_clock = 0;
    double wgmma_8_per_clock = 0;
    double wgmma_16_per_clock = 0;
    double wgmma_tf32_per_clock = 0;
    double mma_16_per_clock = 0;
    double mma_64_per_clock = 0;
    double mma_8_per_clock = 0;

    // Bytes a microsecond that all SMs together read of memory, at best.
    double memory_bytes = 0;
    // Bytes a clock of one SM: what it gets out of the L2 cache by the copy engine, and what it stores, while all SMs do; and what its
    // shared memory gives.
    double l2_bytes_per_clock = 0;
    double stored_bytes_per_clock = 0;
    double shared_bytes_per_clock = 0;
    // Bytes a microsecond that an SM reads of others' shared memory in its cluster.
    double cluster_bytes = 0;

    // Microseconds: from a load's issue to its landing when it misses the L2 cache; of an empty kernel in a replayed graph with what
    // stands around a kernel's work; between two kernels that do not overlap, beyond what is between others; of a small kernel behind
    // another; and until all blocks of a cluster have met.
    double memory_latency = 0;
    double launch = 0;
    double kernel_gap = 0;
    double second_kernel = 0;
    double cluster_sync = 0;

    // Work of tensor cores that takes longer than so many microseconds runs at the power limit: it takes so many times as long, by what
    // multiplying draws and by what moving a row or column of operands to the SM does for each row or column that it meets there.
    struct PowerLimit {
        double after = 0;
        double multiplying = 0;
        double moving = 0;
    };
    PowerLimit power;

    // Clusters of 1 to 8 blocks, one on an SM, that find room at once for each SM of the device: the SMs of a GPC are no multiple of most
    // sizes.
    std::array<double, 8> clusters_of_sm = {};
};

// "shipped with tmm", "from its data sheet".
std::string_view name_of(MachineProfile::Origin origin);
// The same of a profile's numbers, with both origins where there are two.
std::string origin_text(const MachineProfile& profile);

// The profile of the device's model where it is known, else one made of what the driver says, or of the device's generation.
MachineProfile profile_of(const DeviceInfo& device);
// The same with what was measured on the device in place of what is known of its model, or profile_of() where why_untrusted() has a
// reason. Of a model whose profile ships with tmm, numbers stay that the measurement confirms.
MachineProfile profile_of(const DeviceInfo& device, const MeasuredRates& rates);

}  // namespace tmm
