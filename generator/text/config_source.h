// How generated text spells a config: as the kernel's source initialises it, and as the kernel's name has it.
#pragma once

#include <string>
#include <vector>

#include "tmm/vocabulary/config.h"

namespace tmm {

// Fields of a member of the generated struct, in lines of at most 120 columns, continued with an indent.
std::string joined_fields(const std::vector<std::string>& items);

// The fields that are not neutral, as designated initialisers: ".block_m = 128, …".
std::string config_fields(const KernelConfig& config);

// "_128x64x16_t8x4_s3_exact": the same by the words of their tokens. Different kernels never share a name.
std::string config_part_of_name(const KernelConfig& config);

}  // namespace tmm
