// Runs sampled configs on GPU 0: they must equal FP64 within the bound and exact integers bit for bit. TMM_TEST_SEED repeats a run,
// TMM_TEST_CONFIGS and TMM_TEST_SECONDS bound it.
#include <doctest/doctest.h>

#include "tests/support/kernels/correctness.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("sampled configs are right on the GPU") {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    const std::uint64_t seed = test_seed();
    const SamplerOptions options{.seed = seed, .count = static_cast<int>(test_setting("CONFIGS", 500))};
    const std::vector<std::shared_ptr<Device>> devices = {open_device(0)};
    const DeviceInfo& info = devices.front()->info();
    check_samples(sample_configs(options, info), devices, info, seed, "on " + info.name);
}
