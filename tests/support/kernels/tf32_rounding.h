// Which numbers kernels multiply with compute=tf32, bit by bit, on a GPU of compute capability 9.0 or emulated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/plan/executable_plan.h"

namespace tmm::testing {

struct Tf32Case {
    const char* ops;
    const char* config;
};
// Both operands from shared memory, the left one from registers, shared by blocks, and copied to where the copy engine can bring them.
const std::vector<Tf32Case>& tf32_cases();

// What products of the given sizes were, in words; each text is empty where all are right.
struct Tf32Rounding {
    // Operands that do not end up as the nearest number of TF32, ties to even.
    std::string wrong;
    // The same for NaNs that have ones in those bits of the fraction alone that TF32 lacks.
    std::string wrong_nans;
};
// sizes: "232x168x104". device: that of the loader, or the GPU of compute capability 9.0 that it stands in for.
Tf32Rounding tf32_rounding(KernelLoader& loader, const DeviceInfo& device, const std::string& sizes, const Tf32Case& one);

}  // namespace tmm::testing
