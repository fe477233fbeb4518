// The results of running a candidate: the rows of the database as C++ values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Values are stored in databases: append only.
enum class Outcome : int {
    ok = 0,
    compile_failed = 1,
    exceeds_limits = 2,
    spills = 3,
    launch_failed = 4,
    crashed = 5,
    timed_out = 6,
    wrong_result = 7,
    inaccurate = 8,
};
std::string_view name_of(Outcome outcome);

// The operations are 2 m n k batch, by convention without those of the epilogue.
double flops(const GemmProblem& problem);

// The policy is part of what a time means. The default policy decides winners; measurements under other policies are kept as well.
struct MeasurementPolicy {
    // Operands are rotated past the L2 between launches.
    bool cold_l2 = true;
    // Launches are replayed from a graph rather than issued one by one.
    bool graph = true;
    // Another kernel runs before each launch, as programs have it, and its own time is no part of the launch's.
    bool other_kernel = true;
    // The operands' values: "normal" stands for standard normal values and is the only choice so far.
    std::string data = "normal";

    // Winners come of it: of the default policy, and of times back to back, which decided before another kernel stood between.
    bool decides_winners() const {
        MeasurementPolicy default_policy = {};
        default_policy.other_kernel = other_kernel;
        return *this == default_policy;
    }

    friend bool operator==(const MeasurementPolicy&, const MeasurementPolicy&) = default;
};

struct Measurement {
    Outcome outcome = Outcome::ok;
    // Says in one line why the outcome is not ok.
    std::string detail = {};
    // Microseconds of device time a call; 0 where it was not timed.
    double median_us = 0;
    double low_us = 0;   // 10th percentile
    double high_us = 0;  // 90th percentile
    int samples = 0;
    // Worst componentwise error over the bound; at most 1 in an ok row. -1 where it was not checked.
    double error_ratio = -1;
    int registers = -1;
    int spill_bytes = -1;
    std::int64_t shared_bytes = 0;
    std::int64_t workspace_bytes = 0;
    int sm_clock_mhz = 0;
    bool throttled = false;
    // KernelSource's name and source_hash() of every step, joined by '+'.
    std::string kernel_name = {};
    std::string kernel_hash = {};
};

}  // namespace tmm
