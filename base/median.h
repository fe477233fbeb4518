#pragma once

#include <vector>

namespace tmm {

// The median of an even number of values is the mean of the middle two. Throws std::invalid_argument where there are none.
double median(std::vector<double> values);

}  // namespace tmm
