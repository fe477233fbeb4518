// What predictions know of a device: its profile, and nothing else.
#include "generator/machine/profile.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/occupancy.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

GemmProblem problem_of(const std::string& text) {
    return parse_shapes(text, "test").front().problem;
}

DeviceInfo named(const std::string& name, const char* architecture = "90") {
    DeviceInfo device = assumed_device(architecture);
    device.name = name;
    device.profile = profile_of(device);
    return device;
}

double predicted(const std::string& shape, const DeviceInfo& device) {
    const GemmProblem problem = problem_of(shape);
    return CostModel(problem, device).estimate(default_config(problem, device));
}

// The device twice as fast in all that it does.
DeviceInfo twice_as_fast(DeviceInfo device) {
    MachineProfile& profile = device.profile;
    for (double* const rate : {&profile.clock, &profile.fma_clock, &profile.tensor_clock, &profile.memory_bytes, &profile.cluster_bytes})
        *rate *= 2;
    for (double* const time : {&profile.memory_latency, &profile.launch, &profile.kernel_gap, &profile.second_kernel, &profile.cluster_sync,
                               &profile.power.after})
        *time /= 2;
    return device;
}

void check_complete(const MachineProfile& profile) {
    for (const double number :
         {profile.clock, profile.fma_clock, profile.tensor_clock, profile.fmas_per_clock, profile.wgmma_16_per_clock,
          profile.wgmma_tf32_per_clock, profile.mma_16_per_clock, profile.memory_bytes, profile.l2_bytes_per_clock,
          profile.stored_bytes_per_clock, profile.shared_bytes_per_clock, profile.cluster_bytes, profile.memory_latency, profile.launch,
          profile.kernel_gap, profile.second_kernel, profile.cluster_sync, profile.power.after, profile.power.multiplying})
        CHECK(number > 0);
    CHECK(profile.wgmma_8_per_clock > profile.mma_8_per_clock);
    CHECK(profile.fma_clock <= profile.clock);
    CHECK(profile.tensor_clock <= profile.clock);
    for (const double clusters : profile.clusters_of_sm) CHECK((clusters > 0 && clusters <= 1));
}

}  // namespace

TEST_CASE("every device that tmm can be asked about has a whole profile") {
    for (const char* const architecture : {"75", "80", "86", "87", "89", "90", "100", "103", "110", "120", "121"}) {
        CAPTURE(architecture);
        check_complete(assumed_device(architecture).profile);
        check_complete(named("a GPU of tomorrow", architecture).profile);
    }
    check_complete(host_device_info().profile);
}

TEST_CASE("a profile says where it is from") {
    using Origin = MachineProfile::Origin;
    CHECK(named("NVIDIA H200").profile.origin == Origin::shipped);
    CHECK(named("NVIDIA H100 80GB HBM3").profile.origin == Origin::shipped);
    CHECK(named("NVIDIA H100 PCIe").profile.origin == Origin::data_sheet);
    CHECK(named("NVIDIA L4", "89").profile.origin == Origin::data_sheet);
    CHECK(named("NVIDIA RTX 6000 Ada Generation", "89").profile.origin == Origin::generation);
    // A slice of a GPU is another device.
    CHECK(named("NVIDIA H200 MIG 1g.18gb").profile.origin == Origin::generation);

    // Data sheets: memory's rate is reached nearly, and never passed.
    CHECK(named("NVIDIA L4", "89").profile.memory_bytes == doctest::Approx(0.3e6).epsilon(0.1));
    CHECK(named("NVIDIA L4", "89").profile.memory_bytes < 0.3e6);
    CHECK(named("NVIDIA H200").profile.memory_bytes < 4.8e6);
    CHECK(named("NVIDIA H100 80GB HBM3").profile.memory_bytes < 3.35e6);
}

TEST_CASE("a profile multiplies and reads as fast as the data sheet says, and no faster") {
    struct Sheet {
        const char* architecture;
        // TFLOP/s at the boost clock: in float, and of dense 16-bit operands with sums in float where mma.sync reaches them (0: it does
        // not).
        double float_tflops;
        double tensor_tflops;
        // GB/s.
        double memory;
    };
    for (const Sheet& sheet : {Sheet{"75", 8.1, 0, 320}, Sheet{"80", 19.5, 312, 2039}, Sheet{"86", 35.6, 71, 936},
                               Sheet{"89", 82.6, 165.2, 1008}, Sheet{"100", 75, 0, 8000}, Sheet{"120", 104.8, 209.5, 1792}}) {
        CAPTURE(std::string(sheet.architecture));
        const DeviceInfo device = assumed_device(sheet.architecture);
        const MachineProfile& profile = device.profile;
        const auto tflops = [&](double per_clock) { return 2e-6 * per_clock * profile.clock * device.sm_count; };
        CHECK(tflops(profile.fmas_per_clock) == doctest::Approx(sheet.float_tflops).epsilon(0.02));
        if (sheet.tensor_tflops > 0) CHECK(tflops(profile.mma_16_per_clock) == doctest::Approx(sheet.tensor_tflops).epsilon(0.02));
        CHECK(profile.memory_bytes * 1e-3 <= sheet.memory);
        CHECK(profile.memory_bytes * 1e-3 >= 0.9 * sheet.memory);
        // The L2 cache gives more than memory does, and an SM's shared memory more than its part of the cache.
        CHECK(l2_bytes(device) > profile.memory_bytes);
        CHECK(profile.shared_bytes_per_clock > profile.l2_bytes_per_clock);
    }
}

TEST_CASE("of an unknown GPU, memory's rate and clock are what the driver says") {
    DeviceInfo device = assumed_device("89");
    device.name = "NVIDIA RTX 6000 Ada Generation";
    device.clock_khz = 2'505'000;
    // 960 GB/s: two words of 384 bits in each of ten billion clocks.
    device.memory_clock_khz = 10'001'000;
    device.memory_bus_bits = 384;
    const MachineProfile profile = profile_of(device);
    CHECK(profile.origin == MachineProfile::Origin::driver);
    CHECK(profile.clock == 2505);
    CHECK(profile.memory_bytes == doctest::Approx(0.96e6 * 4.6 / 4.8).epsilon(0.001));
    CHECK(profile.fmas_per_clock == 128);
    // Drivers that do not say one of the three say too little.
    device.memory_bus_bits = 0;
    CHECK(profile_of(device).origin == MachineProfile::Origin::generation);
}

TEST_CASE("a device twice as fast in all is predicted to take half the time, by every family") {
    for (const char* const architecture : {"90", "80"}) {
        const DeviceInfo device = assumed_device(architecture);
        const DeviceInfo faster = twice_as_fast(device);
        for (const char* const shape :
             {"16x4096x4096", "16x4095x4095 ops=nt", "1000x1000x1000", "2048x2048x2048 dtype=bf16 beta=1", "65x65x65 batch=500",
              "100x4095x4097 dtype=bf16 ops=nt", "1x4096x4096 dtype=f16", "64x64x65536 compute=f32_strict", "8192x8192x8192 dtype=bf16",
              "4096x8x4096 dtype=bf16", "2048x2048x2048 compute=tf32 lda=2051"}) {
            const GemmProblem problem = problem_of(shape);
            const CostModel model(problem, device);
            const CostModel model_of_faster(problem, faster);
            for (const Family* const family : families())
                for (const Search::Candidate& candidate : family->search.candidates(problem, device)) {
                    if (why_invalid(problem, candidate.config, device)) continue;
                    CAPTURE(shape);
                    CAPTURE(to_text(candidate.config));
                    for (const int overlap : {0, 1}) {
                        KernelConfig config = candidate.config;
                        config.overlap = overlap;
                        REQUIRE(2 * model_of_faster.estimate(config) == doctest::Approx(model.estimate(config)).epsilon(1e-9));
                    }
                }
        }
    }
}

TEST_CASE("what bounds a shape on a device is predicted of its profile") {
    const DeviceInfo h200 = named("NVIDIA H200"), h100 = named("NVIDIA H100 80GB HBM3");
    // Measured by tmm-bench: 107 and 161 us, 1530 and 1511 us (bench/results).
    const char* const by_memory = "16x28672x8192 dtype=bf16 ops=nt";
    CHECK(predicted(by_memory, h200) == doctest::Approx(107).epsilon(0.15));
    CHECK(predicted(by_memory, h100) == doctest::Approx(161).epsilon(0.15));
    const char* const by_tensor_cores = "4096x32000x4096 dtype=bf16 ops=nt";
    CHECK(predicted(by_tensor_cores, h100) == doctest::Approx(predicted(by_tensor_cores, h200)).epsilon(0.08));
    // An L4 has a sixteenth of the memory's rate, and a tenth of the FMAs.
    CHECK(predicted("1x16384x16384", named("NVIDIA L4", "89")) > 10 * predicted("1x16384x16384", h200));
    const char* const by_fmas = "4096x4096x4096 compute=f32_strict";
    DeviceInfo l4 = named("NVIDIA L4", "89");
    l4.sm_count = 58;
    CHECK(predicted(by_fmas, l4) > 1.8 * predicted(by_fmas, h200));
    CHECK(predicted(by_fmas, l4) < 6 * predicted(by_fmas, h200));
    // Half of Hopper's FMAs a clock, and four fifths of its SMs.
    CHECK(predicted(by_fmas, named("NVIDIA A100-SXM4-80GB", "80")) > 2 * predicted(by_fmas, h200));
}
