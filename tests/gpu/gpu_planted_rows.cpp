// The planted database on GPU 0, all of it: what serves from it is right, if slow. TMM_TEST_SEED repeats a run.
#include <doctest/doctest.h>

#include "tests/support/kernels/correctness.h"
#include "tests/support/kernels/planted_rows.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("three hundred legal but unusual winners serve their problems on the GPU and give right results") {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    const std::vector<std::shared_ptr<Device>> devices = {open_device(0)};
    const SamplerOptions options{.seed = test_seed(), .count = static_cast<int>(test_setting("CONFIGS", 300))};
    check_planted_rows(unusual_rows(options, devices.front()->info()), devices, test_seed(), 1);
}
