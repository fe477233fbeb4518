// What the search tries of the mma family.
#pragma once

#include <span>
#include <vector>

#include "generator/families/family.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

struct MmaTile {
    int block_m, block_n, warps_m, warps_n, min_blocks;
};
// The tiles go from large products to thin and small ones.
std::span<const MmaTile> mma_tiles();

struct MmaPipeline {
    int block_k, stages;
    int vector_width = 8;
};
// The likelier pipelines come first. Where cp.async can bring neither operand, both travel through registers.
std::span<const MmaPipeline> mma_pipelines(bool async_copy);

// Can cp.async bring an operand of the signature?
bool mma_copies_async(const KernelSignature& signature);

// The config serves sizes of any kind. Where the SM's shared memory and registers hold fewer blocks than the tile's min_blocks, its
// min_blocks is that number.
KernelConfig mma_config(const MmaTile& tile, const MmaPipeline& pipeline, const KernelSignature& signature, const DeviceInfo& device);

// Registers that a thread needs: sums, the fragments of two steps, elements on their way to shared memory, and some for addresses.
int mma_registers(const KernelConfig& config, const KernelSignature& signature);

// Product::candidates and Product::defaults; there are none but for 16-bit problems.
std::vector<Product::Candidate> mma_candidates(const GemmProblem& problem, const DeviceInfo& device);
std::vector<KernelConfig> mma_defaults(const GemmProblem& problem, const DeviceInfo& device);

}  // namespace tmm
