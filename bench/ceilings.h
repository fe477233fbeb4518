// Measures the highest rates that the device can reach, by kernels that do one thing only (templates/tmm/ceilings/kernels.cuh and
// ceilings/mma.cuh).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/operands.h"
#include "bench/paired_timing.h"
#include "bench/recorded.h"
#include "bench/roofline.h"
#include "bench/value_pool.h"
#include "generator/compile/kernel_source.h"
#include "runtime/executable_plan.h"

namespace tmm::bench {

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

// On the emulated device everything runs on tiny sizes, and the figures mean nothing.
class CeilingBench {
public:
    // Compiles and loads the kernels. Throws Error where they do not compile. Of the arithmetics it measures those that the device
    // has kernels for: tensor cores are measured on GPUs of compute capability 8.0 and later.
    CeilingBench(std::shared_ptr<Device> device, std::set<Unit> arithmetics, SettleOptions settle, double sample_us);
    ~CeilingBench();
    CeilingBench(const CeilingBench&) = delete;
    CeilingBench& operator=(const CeilingBench&) = delete;

    // Measures the read rate over 1 GiB (an eighth of the memory where that is less), the rates of multiplying after the clock settled, and
    // the launch gap. This takes seconds, and twice the bytes that it reads.
    Ceilings measure() const;

    // Times the swept read kernel over what the operands' sets hold, set after set in one replay, as a multiplication of them is timed.
    // Where C is so large that without it the sets would fit into the L2, the kernel reads as many bytes in memory of its own, in enough
    // sets to span rotation_bytes (at most Operands::kMostSets). The floor is the least of the fastest launch shapes' medians.
    ReadFloor read_floor(const Operands& operands, std::int64_t rotation_bytes) const;

private:
    struct Kernels;
    void measure_reading(Ceilings& ceilings) const;
    // Returns nothing where there is no kernel for the arithmetic.
    std::optional<FlopRate> measure_multiplying(Unit arithmetic) const;
    void measure_launching(Ceilings& ceilings) const;
    DeviceBuffer filled(std::int64_t bytes) const;
    ReadFloor sweep_reads(const std::vector<std::vector<ByteRange>>& sets, const SettleOptions& settle) const;

    std::shared_ptr<Device> device_;
    std::set<Unit> arithmetics_;
    SettleOptions settle_;
    double sample_us_;
    ValuePool pool_;
    std::unique_ptr<Kernels> kernels_;
};

}  // namespace tmm::bench
