// The kernel that multiplies a strip of C, a few rows or columns that another family's tiles leave.
#pragma once

#include <cstdint>

#include "generator/schedule/schedule.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// swap: the strip has few columns, not rows. signature: the strip's, whose start may be less aligned than the matrix's.
KernelConfig gemv_strip(const Extent& extent, std::int64_t batch, const KernelSignature& signature, bool swap);

}  // namespace tmm
