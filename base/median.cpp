#include "base/median.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace tmm {

double median(std::vector<double> values) {
    if (values.empty()) throw std::invalid_argument("the median of no values");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 != 0 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace tmm
