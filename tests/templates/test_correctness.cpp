// Runs sampled configs on the emulated device under three orders of threads: they must equal FP64 within the bound and exact integers bit
// for bit. TMM_TEST_SEED repeats a run, TMM_TEST_CONFIGS and TMM_TEST_SECONDS bound it.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/emulation/host_device.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/slice.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("a pairwise cover lets every two choices meet") {
    const std::vector<int> levels = {3, 2, 4};
    const auto rows = pairwise_cover(levels, 7);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 4; ++b)
            CHECK(std::any_of(rows.begin(), rows.end(), [&](const std::vector<int>& row) { return row[0] == a && row[2] == b; }));
    CHECK(rows.size() < 3 * 2 * 4);
}

TEST_CASE("sampled configs are right on the emulated device") {
    const std::uint64_t seed = test_seed();
    const SamplerOptions options{.seed = seed, .count = static_cast<int>(test_setting("CONFIGS", 48)), .largest_block = 64};
    const std::vector<std::shared_ptr<Device>> devices = {make_host_device("ascending"), make_host_device("descending"),
                                                          make_host_device("shuffled:" + std::to_string(seed))};
    const DeviceInfo& info = devices.front()->info();
    std::vector<Sample> samples = sample_configs(options, info);
    // Where no number is asked for, one change tries half of the kinds of kernels, and the next the other half.
    std::size_t index = 0;
    if (test_setting("CONFIGS", 0) == 0) std::erase_if(samples, [&](const Sample&) { return !in_slice(index++, 2); });
    check_samples(samples, devices, info, seed, "in three thread orders");
}
