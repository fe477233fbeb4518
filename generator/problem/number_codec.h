// The numbers that bits of a format stand for, on the host.
#pragma once

#include "tmm/number/arithmetic.h"

namespace tmm {

// The number whose bits stand in a matrix of the type.
double decoded(ElementType type, u64 bits);
// The bits of the number that is nearest, ties to even; what is too large becomes infinite.
u64 encoded(ElementType type, double value);
// The nearest number of the type.
double rounded_to(ElementType type, double value);

}  // namespace tmm
