// Runs random problems through the C interface on GPU 0: 500, and 10,000 with TMM_TEST_FULL=1. TMM_TEST_SEED repeats a run,
// TMM_TEST_SECONDS ends it, and TMM_TEST_SLICE=N takes the N-th 500 of them, so that processes may share the work.
#include <doctest/doctest.h>

#include "tests/support/api_testing.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/kernels/random_calls.h"

using namespace tmm::testing;

TEST_CASE("random calls of the C interface are right on the GPU, and write elements of C alone") {
    if (tmm::gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    const int count = test_setting("FULL", 0) != 0 ? 10'000 : 500;
    check_random_calls(0, test_seed(), count * static_cast<int>(test_setting("SLICE", 0) % 1000), count, 600);
}
