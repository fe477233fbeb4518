// Compares sampled configs of wgmma, skinny and simt whose tiles TMA copies, on the emulated device, with the references as on a GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "generator/families/family.h"
#include "generator/machine/assumed_device.h"
#include "runtime/emulation/host_device.h"
#include "tests/support/kernels/correctness.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

void check_sampled_configs(int of_family, std::size_t most) {
    const auto checks = [&](const KernelConfig& config) {
        return config.family == of_family && family_of(config).model.phase_loads(config).by_copy_engine;
    };
    const std::uint64_t seed = test_seed();
    // The device has so few SMs that most thread blocks have several tiles to process.
    DeviceInfo h200 = assumed_device("90");
    h200.sm_count = 2;
    std::vector<Sample> samples = sample_configs({.seed = seed, .count = 600, .problems_per_config = 2}, h200);
    samples.erase(std::remove_if(samples.begin(), samples.end(), [&](const Sample& s) { return !checks(s.config); }), samples.end());
    samples.resize(std::min(samples.size(), most));
    const std::vector<std::shared_ptr<Device>> devices = {make_host_device_for(h200, "ascending"),
                                                          make_host_device_for(h200, "shuffled:" + std::to_string(seed))};
    check_samples(samples, devices, h200, seed, "in two thread orders");
}

}  // namespace

TEST_CASE("sampled configs of wgmma are right on the emulated device") {
    check_sampled_configs(family::wgmma, static_cast<std::size_t>(test_setting("CONFIGS", 4)));
}

TEST_CASE("sampled configs of skinny are right on the emulated device") {
    check_sampled_configs(family::skinny, static_cast<std::size_t>(test_setting("CONFIGS", 4)));
}

TEST_CASE("sampled configs of simt whose tiles TMA brings are right on the emulated device") {
    check_sampled_configs(family::simt, static_cast<std::size_t>(test_setting("CONFIGS", 4)));
}
