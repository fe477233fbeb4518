// The wgmma instruction that a kernel uses, as text: its PTX names every accumulator register.
#pragma once

#include <string>

#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// The specialisation of ptx::wgmma_mma_async, or of ptx::wgmma_mma_async_fragments, (templates/tmm/ptx.cuh) for a config of
// family wgmma; empty where no kernel can be made of it.
std::string wgmma_instruction(const KernelSignature& signature, const KernelConfig& config);

}  // namespace tmm
