// Says which of a test's many cases run. The quick suite takes a slice of them; TMM_TEST_FULL=1 takes all.
#pragma once

#include <cstddef>

namespace tmm::testing {

// Does the case run, where one in `slices` does? TMM_TEST_SLICE, any whole number, says which ones; .ci/run counts it up.
bool in_slice(std::size_t index, std::size_t slices);

}  // namespace tmm::testing
