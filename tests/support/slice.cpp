#include "tests/support/slice.h"

#include "tests/support/kernels/correctness.h"

namespace tmm::testing {

bool in_slice(std::size_t index, std::size_t slices) {
    if (test_setting("FULL", 0) != 0) return true;
    return index % slices == static_cast<std::size_t>(test_setting("SLICE", 0)) % slices;
}

}  // namespace tmm::testing
