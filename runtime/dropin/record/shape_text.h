// A problem as a line of a shapes file, which tmm-tune reads.
#pragma once

#include <cstdint>
#include <string>

#include "tmm/tmm.h"

namespace tmm::dropin {

// Leading dimensions and strides of matrices that lie without gaps, one behind the other.
void set_packed(tmmGemmProblem_t& problem);

// "M N K key=value …", with what differs from the defaults.
std::string shape_text(const tmmGemmProblem_t& problem);

}  // namespace tmm::dropin
