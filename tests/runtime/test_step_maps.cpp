// Tensor maps that are encoded when a plan is made, with a call's addresses put in, are those that would be encoded for the call.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/step_maps.h"
#include "tests/support/kernels/config_sampler.h"
#include "tests/support/kernels/correctness.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

// Any addresses that a plan takes: nobody follows them.
GemmCall drawn_call(std::mt19937_64& random, const LaunchPlan& plan) {
    const auto address = [&](std::uint64_t alignment) { return reinterpret_cast<void*>((random() >> 20) / alignment * alignment); };
    GemmCall call{.a = address(256),
                  .b = address(256),
                  .c = address(256),
                  .bias = address(256),
                  .residual = address(256),
                  .workspace = address(256),
                  .alpha = random() % 4 == 0 ? 0.0 : 2.0,
                  .beta = plan.problem.reads_c ? 0.5 : 0.0};
    if (prepared_bytes(plan, GemmOperand::a) > 0 && random() % 2 == 0) call.prepared_a = address(256);
    if (prepared_bytes(plan, GemmOperand::b) > 0 && random() % 2 == 0) call.prepared_b = address(256);
    return call;
}

}  // namespace

TEST_CASE("of sampled configs, for calls with any addresses, that read A and B or not, and with prepared operands") {
    const std::uint64_t seed = test_seed();
    MESSAGE("TMM_TEST_SEED=" << seed);
    const DeviceInfo device = assumed_device("90");
    const auto host = make_host_device();
    std::mt19937_64 random(seed);
    long maps = 0;
    long without_k = 0;
    for (const Sample& sample : sample_configs({.seed = seed, .count = 300}, device)) {
        for (const GemmProblem& problem : sample.problems) {
            CAPTURE(to_text(problem));
            CAPTURE(to_text(sample.config));
            const LaunchPlan plan = make_launch_plan(problem, sample.config, device);
            for (const LaunchStep& step : plan.steps) {
                const StepMaps prepared(*host, plan, step);
                CHECK(prepared.are_encoded() == (step.tensor_maps != nullptr));
                for (int i = 0; i < 4; ++i) {
                    const GemmCall call = drawn_call(random, plan);
                    alignas(64) std::byte expected[kMaxArgumentBytes] = {};
                    alignas(64) std::byte written[kMaxArgumentBytes] = {};
                    const std::size_t bytes = bind_step(plan, step, call, expected);
                    bind_step(plan, step, call, written);
                    if (step.tensor_maps)
                        for (const TensorMapRequest& request : step.tensor_maps(step, expected)) {
                            host->encode_tensor_map(request, expected + request.offset);
                            ++maps;
                        }
                    without_k += step.tensor_maps && call.alpha == 0;
                    prepared.write(*host, step, written);
                    CHECK(std::memcmp(expected, written, bytes) == 0);
                }
            }
        }
    }
    CHECK(maps > 1000);
    CHECK(without_k > 50);
}
