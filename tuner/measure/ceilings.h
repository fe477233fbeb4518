// The highest rates that a device reaches, by kernels that do one thing only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/kernel/kernel_source.h"
#include "generator/machine/measured_rates.h"
#include "runtime/device/device.h"
#include "tuner/measure/timing.h"

namespace tmm {

// The unit that multiplies: FP32 on CUDA cores, tensor cores by the type of their operands, or whichever multiplies FP64 and whole numbers,
// which no kernel measures.
enum class Unit { ffma, tf32, f16, bf16, f64, s8 };
// "ffma", "tf32", "f16", "bf16", "f64", "s8".
std::string_view name_of(Unit arithmetic);

// The rate counts two operations for each multiply-add, in registers or shared memory, of the fastest instruction that was tried.
struct FlopRate {
    double flop_per_us = 0;
    // "FFMA", "mma.sync".
    std::string instruction;
    // The launch that reached it: "16 chains a thread, 512 threads, 4 blocks an SM".
    std::string launch;
    // The SM clock while multiplying; 0 where it can't be read.
    int clock_mhz = 0;
};

// The highest rates of a device.
struct DeviceCeilings {
    // Rate of the swept read kernel over read_bytes, which the L2 does not hold.
    double read_bytes_per_us = 0;
    std::int64_t read_bytes = 0;
    // Rates of the arithmetics that were asked for, where the device has kernels that measure them.
    std::map<Unit, FlopRate> multiplying;
    // Time from one empty kernel of a replayed graph to the next.
    double launch_gap_us = 0;
    // The launch that reached it: "4 loads a thread, 512 threads, 4 blocks an SM".
    std::string read_launch;

    // The rate is 0 where it was not measured.
    double flop_per_us(Unit arithmetic) const;
};

// Measures the highest rates that the device can reach, by kernels that do one thing only (templates/tmm/checks/ceilings/kernels.cuh and
// ceilings/mma.cuh), each launched in many shapes.
// The launch shape of a swept kernel.
struct CeilingLaunch {
    // Loads that a thread has under way, or chains that a thread or warp has.
    int at_once = 1;
    int threads = 256;
    // Thread blocks per SM; 0 stands for as many as it takes for each to read one chunk.
    int blocks_per_sm = 1;
};
// "4 loads a thread, 512 threads, 2 blocks an SM", where what is "load" and whose is "thread".
std::string to_text(const CeilingLaunch& launch, const std::string& what, const std::string& whose = "thread");

// The kernels that multiply by mma.sync, from compute capability 8.0 on.
KernelSource make_mma_ceilings_source();

struct ReadFloor {
    double us = 0;
    std::string launch;
};

struct ByteRange {
    const std::byte* start = nullptr;
    std::int64_t bytes = 0;
};
// Ranges that are read one after the other, set after set.
using ReadSets = std::vector<std::vector<ByteRange>>;

struct CeilingOptions {
    SettleOptions settle = {};
    // Least time of a sample, and how many there are.
    double sample_us = 300;
    int samples = 15;
    // Bytes that are read at once; an eighth of the device's memory where that is less.
    std::int64_t read_bytes = 1 << 30;
    // Only the launch shapes are tried that are among the fastest on most devices.
    bool quick = false;
};

// On the emulated device everything runs on tiny sizes, and the figures mean nothing.
class CeilingSweep {
public:
    // Compiles and loads the kernels. Throws Error where they do not compile. Of the arithmetics it measures those that the device
    // has kernels for: tensor cores are measured on GPUs of compute capability 8.0 and later.
    CeilingSweep(std::shared_ptr<Device> device, std::set<Unit> arithmetics, const CeilingOptions& options);
    ~CeilingSweep();
    CeilingSweep(const CeilingSweep&) = delete;
    CeilingSweep& operator=(const CeilingSweep&) = delete;

    // Measures the read rate, the rates of multiplying after the clock settled, and the launch gap. It takes twice the bytes that it reads.
    DeviceCeilings measure() const;
    // The rate of one SM while all others have nothing to do. Nothing where there is no kernel for the arithmetic.
    std::optional<FlopRate> measure_one_sm(Unit arithmetic) const;

    // Times the swept read kernel over the sets, set after set in one replay. The floor is the least of the fastest launch shapes' medians.
    ReadFloor read(const ReadSets& sets, const SettleOptions& settling) const;
    // So many sets like this one in the memory, whose ranges are as long and stand as far from a vector's start.
    ReadSets sets_like(const std::vector<ByteRange>& set, std::int64_t count, DeviceBuffer& memory) const;
    const CeilingOptions& options() const { return options_; }

private:
    struct Kernels;
    void measure_reading(DeviceCeilings& ceilings) const;
    // Returns nothing where there is no kernel for the arithmetic.
    std::optional<FlopRate> measure_multiplying(Unit arithmetic, int sms) const;
    void measure_launching(DeviceCeilings& ceilings) const;
    DeviceBuffer filled(std::int64_t bytes) const;
    int samples() const { return device_->info().emulated ? 1 : options_.samples; }
    double sample_us() const { return device_->info().emulated ? 0 : options_.sample_us; }

    std::shared_ptr<Device> device_;
    std::set<Unit> arithmetics_;
    CeilingOptions options_;
    std::unique_ptr<Kernels> kernels_;
};

// Measures in a second or two what predictions take of a device itself.
// Throws Error where kernels do not compile or memory is short, DeviceFault where the device is lost. Whether the rates are to be trusted
// is for the caller to ask (why_untrusted).
MeasuredRates measure_rates(const std::shared_ptr<Device>& device);

}  // namespace tmm
