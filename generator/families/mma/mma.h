// What the parts of the family mma on the host know of each other: candidates and estimates.
#pragma once

#include <span>
#include <vector>

#include "generator/families/family.h"
#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Does the family multiply elements of the type?
bool mma_multiplies(ElementType type);

struct MmaTile {
    int block_m, block_n, warps_m, warps_n, min_blocks;
};
// The tiles go from large products to thin and small ones.
std::span<const MmaTile> mma_tiles(ElementType type);

struct MmaPipeline {
    int block_k, stages;
    int vector_width = 8;
};
// The likelier pipelines come first. Where cp.async can bring neither operand, both travel through registers.
std::span<const MmaPipeline> mma_pipelines(const KernelSignature& signature);

// Can cp.async bring an operand of the signature?
bool mma_copies_async(const KernelSignature& signature);

// The config serves sizes of any kind. Where the SM's shared memory and registers hold fewer blocks than the tile's min_blocks, its
// min_blocks is that number.
KernelConfig mma_config(const MmaTile& tile, const MmaPipeline& pipeline, const KernelSignature& signature, const DeviceInfo& device);

// Registers that a thread needs: sums, the fragments of two steps, elements on their way to shared memory, and some for addresses.
int mma_registers(const KernelConfig& config, const KernelSignature& signature);

// Search::candidates and Search::defaults.
std::vector<Search::Candidate> mma_candidates(const GemmProblem& problem, const DeviceInfo& device);
std::vector<KernelConfig> mma_defaults(const GemmProblem& problem, const DeviceInfo& device);

// How long a config of the mma family is taken to run: the cost model's part for mma.sync.

// Microseconds of a valid config's whole plan: of the products, of the ways that tiles wait for each other, and of memory the longest
// counts most; results are stored when those are done. The constants are fitted to 1,550 configs of 19 bf16 problems on an H200: of two
// that differ by more than 3% it puts the faster first in 80 of 100, and the config that it puts first takes 1.06 times as long as the
// fastest.
PredictedTime mma_estimate(const Schedule& schedule, const DeviceInfo& device);

}  // namespace tmm
