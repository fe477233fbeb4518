// Whether a BLAS with plain names takes integers of 32 bits, as most do, or of 64 bits, as MKL's ILP64 libraries and Debian's libblas64 do.
#pragma once

#include "runtime/dropin/behind.h"

namespace tmm::dropin {

// Asks isamax_ of the same library, behind.others[0], or cblas_isamax, others[1]. False, and said once in the log, where it takes 64 bits
// or has neither, so that nobody knows.
bool takes_32_bits(const Behind& behind) noexcept;

}  // namespace tmm::dropin
