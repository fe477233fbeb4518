// Runs random problems through the C interface: all types, layouts, operations, leading dimensions, strides, offsets, alpha and beta, with
// the winners that ship and with predicted configs. Each result is compared with FP64, and what is no element of C with what it was.
#pragma once

#include <cstdint>

namespace tmm::testing {

// The calls number first … first + count - 1 on the device, with sizes up to the largest. Prints how many there were and the seed.
void check_random_calls(int ordinal, std::uint64_t seed, int first, int count, int largest);

}  // namespace tmm::testing
