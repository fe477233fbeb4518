// A few random problems through the C interface on the emulated device; gpu_random_calls runs thousands.
#include <doctest/doctest.h>

#include "tests/support/api_testing.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/kernels/random_calls.h"

using namespace tmm::testing;

TEST_CASE("random calls of the C interface are right on the emulated device, and write elements of C alone") {
    const int count = test_setting("FULL", 0) != 0 ? 300 : 40;
    check_random_calls(TMM_DEVICE_HOST, test_seed(), count * static_cast<int>(test_setting("SLICE", 0) % 1000), count, 60);
}
