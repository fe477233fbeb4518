// Sampled configs on GPU 0: equal to FP64 within the bound and to exact integers bit for bit. TMM_TEST_SEED repeats a run,
// TMM_TEST_CONFIGS and TMM_TEST_SECONDS bound it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support_correctness.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("sampled configs are right on the GPU") {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    const auto seed = static_cast<std::uint64_t>(test_setting("SEED", 20261120));
    const SamplerOptions options{.seed = seed, .count = static_cast<int>(test_setting("CONFIGS", 500))};
    const std::vector<std::shared_ptr<Device>> devices = {open_device(0)};
    const auto report = check_samples(sample_configs(options, devices.front()->info()), devices, devices.front()->info(),
                                      static_cast<double>(test_setting("SECONDS", 0)));
    fmt::print("{} configs, {} problems on {}, seed {}: worst error {:.3f} of the bound\n", report.configs, report.problems,
               devices.front()->info().name, seed, report.worst_error_ratio);
    for (const std::string& failure : report.failures) MESSAGE(failure);
    CHECK(report.failures.empty());
    CHECK(report.configs > 0);
    CHECK(report.worst_error_ratio > 0);
}
