// Draws configs and problems for the correctness tests: families, boundary modes and operand layouts in turn, everything else
// at random from a seed; sizes, paddings and alignments so that every pair of choices meets.
#pragma once

#include <cstdint>
#include <vector>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm::testing {

struct Sample {
    KernelConfig config;
    // The problems are all valid for the config and have one signature, so that one kernel serves them.
    std::vector<GemmProblem> problems;
    double alpha = 1;
    double beta = 0;
};

struct SamplerOptions {
    std::uint64_t seed = 1;
    int count = 100;
    // Larger tiles are left to the GPU: an emulated device would take too long.
    int largest_block = 256;
    int problems_per_config = 3;
};

std::vector<Sample> sample_configs(const SamplerOptions& options, const DeviceInfo& device);

// Rows of choices, one index a factor (factor f has levels[f] of them), in which every two choices of different factors meet.
std::vector<std::vector<int>> pairwise_cover(const std::vector<int>& levels, std::uint64_t seed);

}  // namespace tmm::testing
