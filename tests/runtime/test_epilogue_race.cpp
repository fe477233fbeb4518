// Where an epilogue that was not tuned is applied: what a handle measures when it may, what it then runs, and what it says.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "generator/choice/cost_model.h"
#include "generator/compile/compiler.h"
#include "generator/kernel/kernel_source.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/plan.h"
#include "tests/support/database_fixture.h"
#include "tests/support/race_testing.h"
#include "tests/support/selection_testing.h"
#include "tmm/tmm.hpp"
#include "tools/tmm_db/bundle_command.h"

using namespace tmm;
using selection_testing::contains;
using selection_testing::shape;

namespace {

constexpr const char* kWinner = "simt 32x32x8 t4x4 s2 v4 peeled";
constexpr const char* kWinnerOf16Bits = "naive 8x32x1";

// The emulated device, whose launches take as long as a test says.
class PacedDevice final : public Device {
public:
    double us_of_one_launch = 20;
    double us_of_two_launches = 40;
    int launches = 0;
    int recorded = 0;
    bool has_memory = true;

    const DeviceInfo& info() const override { return host_->info(); }
    void* allocate(std::size_t bytes) override {
        if (!has_memory) throw std::bad_alloc();
        return host_->allocate(bytes);
    }
    void release(void* memory) noexcept override { host_->release(memory); }
    void copy_to_device(void* to, const void* from, std::size_t bytes) override { host_->copy_to_device(to, from, bytes); }
    void copy_to_host(void* to, const void* from, std::size_t bytes) override { host_->copy_to_host(to, from, bytes); }
    void fill_bytes(void* memory, unsigned char value, std::size_t bytes) override { host_->fill_bytes(memory, value, bytes); }
    std::shared_ptr<const LoadedKernel> load(const CompiledKernel& kernel, const std::string& entry) override {
        return host_->load(kernel, entry);
    }
    void launch(const LoadedKernel& kernel, const LaunchShape& how, const void* arguments, std::size_t bytes, Stream stream) override {
        ++launches;
        host_->launch(kernel, how, arguments, bytes, stream);
    }
    void encode_tensor_map(const TensorMapRequest& request, void* map) const override { host_->encode_tensor_map(request, map); }
    void set_address(void* map, const void* address) const override { host_->set_address(map, address); }
    void synchronize(Stream stream) override { host_->synchronize(stream); }
    std::unique_ptr<Replay> record(const std::function<void(Stream)>& work) override {
        ++recorded;
        const int before = launches;
        work(nullptr);
        return std::make_unique<PacedReplay>(launches - before == 1 ? us_of_one_launch : us_of_two_launches);
    }
    DeviceState state() override { return {}; }
    int blocks_per_sm(const LoadedKernel&, int, std::int64_t) override { return 0; }

private:
    struct PacedReplay final : Replay {
        explicit PacedReplay(double us) : us_(us) {}
        double run_timed() override { return us_; }
        double us_;
    };

    std::shared_ptr<Device> host_ = open_device(kHostDevice);
};

// A GPU on which a second kernel costs next to nothing.
DeviceInfo device_of_fast_steps() {
    DeviceInfo fast = assumed_device("90");
    fast.profile.memory_bytes *= 1000;
    fast.profile.second_kernel = 0;
    fast.profile.memory_latency *= 10;
    return fast;
}

WinnerRow winner_on(const DeviceInfo& device, const std::string& problem, const KernelConfig& config) {
    WinnerRow row;
    row.problem = shape(problem);
    row.device = device.name;
    row.compute_capability = device.compute_capability();
    row.sm_count = device.sm_count;
    row.config = config;
    row.origin = "user";
    return row;
}

struct Fixture {
    testing::TemporaryDirectory directory;
    std::shared_ptr<PacedDevice> device = std::make_shared<PacedDevice>();
    KernelLoader loader{device, make_host_compiler(), KernelCache(directory / "kernels")};
    EpilogueRaces races;

    Winners winners(const std::string& text) const {
        const KernelConfig config = parse_config(is_16_bit(shape(text).type_a) ? kWinnerOf16Bits : kWinner);
        return Winners({winner_on(device->info(), text, config)}, device->info());
    }
    RuntimePlan make(const PlanRequest& request, const std::string& tuned = "45x75x21") {
        return RuntimePlan::make(request, winners(tuned), loader, RuntimePlan::Pointers::aligned_as_promised, &races);
    }
};

// C of A = 1 and B = 2, with a bias of 3.
std::vector<float> result_of(const RuntimePlan& plan) {
    const GemmProblem& p = plan.problem();
    const std::vector<float> a(static_cast<std::size_t>(p.m * p.k), 1), b(static_cast<std::size_t>(p.k * p.n), 2);
    const std::vector<float> bias(static_cast<std::size_t>(p.n), 3);
    std::vector<float> c(static_cast<std::size_t>(p.m * columns_of_c(p)), -1);
    std::vector<float> workspace(plan.workspace_bytes() / 4 + 64);
    void* aligned = workspace.data();
    std::size_t room = workspace.size() * 4;
    std::align(256, plan.workspace_bytes(), aligned, room);
    plan.run({.a = a.data(), .b = b.data(), .c = c.data(), .bias = bias.data(), .workspace = aligned, .parameters = {1, 0, 0, 0}}, nullptr);
    return c;
}

std::vector<PlanRequest> untuned_requests() {
    PlanRequest expression{.problem = shape("45x75x21 epilogue=bias"), .expression = {.text = "fmaxf(x + bias, p0)"}};
    expression.problem.epilogue = Epilogue::custom;
    return {{.problem = shape("45x75x21 epilogue=bias+relu")}, expression};
}

}  // namespace

TEST_CASE("an epilogue that was not tuned is applied where that was faster, with the same result") {
    for (const PlanRequest& request : untuned_requests()) {
        for (const bool step_is_faster : {false, true}) {
            CAPTURE(request.expression.text);
            CAPTURE(step_is_faster);
            Fixture on;
            on.device->us_of_two_launches = step_is_faster ? 14 : 26;
            const RuntimePlan plan = on.make(request);
            const int before = on.device->launches;
            CHECK(result_of(plan) == std::vector<float>(45 * 75, 2 * 21 + 3));
            CHECK(on.device->launches - before == (step_is_faster ? 2 : 1));
            CHECK(
                contains(plan.describe(), fmt::format("20.00 µs with the epilogue in the kernel, {}.00 µs with a step behind {}, so the {}",
                                                      step_is_faster ? 14 : 26, kWinner, step_is_faster ? "step" : "kernel")));
            CHECK(plan.selection().measured_us == (step_is_faster ? 14 : 20));
            // C of floats has room for the sums.
            CHECK(plan.workspace_bytes() == 0);
        }
    }
}

TEST_CASE("a request is measured once") {
    Fixture on;
    on.device->us_of_two_launches = 7;
    const std::vector<PlanRequest> requests = untuned_requests();
    const std::string first = on.make(requests[1]).describe();
    CHECK(on.device->recorded == 2);
    on.device->us_of_two_launches = 70;
    CHECK(on.make(requests[1]).describe() == first);
    CHECK(on.device->recorded == 2);
    // Another expression is another request.
    PlanRequest other = requests[1];
    other.expression.text = "x + bias";
    CHECK(contains(on.make(other).describe(), "70.00 µs with a step"));
    CHECK(on.device->recorded == 4);
}

TEST_CASE("nothing is measured where it was tuned, where there is no epilogue, or where a step finishes the sums anyway") {
    Fixture on;
    on.device->us_of_two_launches = 1;
    on.make({.problem = shape("45x75x21 epilogue=bias+relu")}, "45x75x21 epilogue=bias+relu");
    on.make({.problem = shape("45x75x21")});
    GemmProblem no_sums = shape("45x75x21 epilogue=bias+relu");
    no_sums.k = 0;
    on.make({.problem = no_sums});
    on.make({.problem = shape("45x40x21 epilogue=swiglu")}, "45x80x21");
    CHECK(on.device->recorded == 0);
}

TEST_CASE("the kernel applies the epilogue where the step's sums have no place") {
    Fixture on;
    on.device->us_of_two_launches = 1;
    PlanRequest request{.problem = shape("45x75x21 dtype=f16 epilogue=bias+relu")};
    request.most_workspace = 1000;
    CHECK(on.make(request, "45x75x21 dtype=f16").workspace_bytes() == 0);
    CHECK(on.device->recorded == 0);
    request.most_workspace = 4 * 45 * 76;
    CHECK(on.make(request, "45x75x21 dtype=f16").workspace_bytes() == 4 * 45 * 76);
    CHECK(on.device->recorded == 2);
    on.device->has_memory = false;
    request = untuned_requests()[0];
    const RuntimePlan plan = on.make(request);
    CHECK(plan.workspace_bytes() == 0);
    CHECK(result_of(plan) == std::vector<float>(45 * 75, 2 * 21 + 3));
}

TEST_CASE("without a race the prediction says where an epilogue is applied") {
    // What memory and a second kernel take says whether a step is worth it: never on the GPU as it is, where it costs more bytes than the
    // kernel has work with them.
    const PlanRequest request{.problem = shape("512x768x64 epilogue=bias+gelu_tanh")};
    const KernelConfig config = parse_config("simt 128x64x16 t8x8 s2 v4 peeled");
    for (const DeviceInfo& device : {assumed_device("90"), device_of_fast_steps()}) {
        const bool step_is_faster = device.profile.second_kernel == 0;
        CAPTURE(step_is_faster);
        const testing::TemporaryDirectory directory;
        KernelLoader loader(make_host_device_for(device, "ascending"), make_host_compiler(), KernelCache(directory / "kernels"));
        const WinnerRow row = winner_on(device, "512x768x64", config);
        const RuntimePlan plan = RuntimePlan::make(request, Winners({row}, device), loader, RuntimePlan::Pointers::aligned_as_promised);
        CAPTURE(plan.describe());
        CHECK(describe_choice(request, Winners({row}, device), nullptr) == plan.describe());
        CHECK(plan.selection().match == Match::near);
        CHECK(contains(plan.describe(), "is predicted to take less time with the epilogue") == step_is_faster);
        CHECK(contains(plan.describe(), "so the step applies it") == step_is_faster);
        const PredictedPlaces predicted = predicted_places(request.problem, config, config, device);
        CHECK(predicted.step_is_faster() == step_is_faster);
        CHECK(predicted.kernel_us > 0);
    }
}

TEST_CASE("a bundle has the kernels that apply its problems' epilogues, whatever a step is predicted to take") {
    const std::string asked = "512x768x64 epilogue=bias+gelu_tanh";
    const DeviceInfo device = device_of_fast_steps();
    const KernelConfig in_kernel = parse_config("simt 128x64x16 t8x8 s2 v4 peeled");
    const KernelConfig before_step = parse_config("simt 64x64x16 t8x4 s2 v4 peeled");
    const Winners winners({winner_on(device, "512x768x64 epilogue=bias+gelu", in_kernel), winner_on(device, "512x768x64", before_step)},
                          device);
    const testing::TemporaryDirectory directory;
    KernelLoader loader(make_host_device_for(device, "ascending"), make_host_compiler(), KernelCache(directory / "kernels"));
    const RuntimePlan plan = RuntimePlan::make({.problem = shape(asked)}, winners, loader, RuntimePlan::Pointers::aligned_as_promised);
    CAPTURE(plan.describe());
    REQUIRE(plan.selection().config == before_step);

    const BundleContent bundle = make_bundle({shape(asked)}, winners, make_host_compiler(), KernelCache(directory / "kernels"));
    REQUIRE(bundle.entries.size() == 2);
    CHECK(bundle.entries[0].config == in_kernel);
    for (const BundleEntry& entry : bundle.entries)
        for (const LaunchStep& step : make_launch_plan(entry.problem, entry.config, device).steps)
            CHECK(bundle.kernels.contains(identity_of(make_kernel_source(step.signature, step.kernel))));
}

TEST_CASE("on GPUs as they are no step is predicted to be faster than the same kernel with the epilogue") {
    for (const char* const architecture : {"75", "80", "86", "89", "90", "100", "120"})
        for (const char* const text :
             {"16x4096x4096", "1024x3072x768", "4096x4096x4096", "64x4096x4096 epilogue=residual", "1000x1000x50"}) {
            CAPTURE(architecture);
            CAPTURE(std::string(text));
            const DeviceInfo device = assumed_device(architecture);
            GemmProblem problem = shape(text);
            problem.epilogue = Epilogue::custom;
            const KernelConfig config = parse_config("simt 64x64x16 t8x4 s2 v4 peeled");
            const PredictedPlaces predicted = predicted_places(problem, config, config, device);
            CHECK(predicted.kernel_us > 0);
            CHECK_FALSE(predicted.step_is_faster());
            CHECK(predicted.step_us > CostModel(problem, device).estimate(config));
        }
    CHECK_FALSE(predicted_places(shape("45x75x21 epilogue=bias"), {}, {}, host_device_info()).step_is_faster());
}

TEST_CASE("a handle measures when it may, and not before") {
    const testing::TemporaryDirectory directory;
    const auto file = (directory / "tmm.db").string();
    {
        TuningDatabase database(file, TuningDatabase::Mode::read_write_create);
        const DeviceInfo& info = host_device_info();
        database.set_environment(testing::environment_of(info.name, info.compute_capability(), info.sm_count));
        database.decide(shape("45x75x21"), {}, {.config = parse_config(kWinner), .median_us = 1});
    }
    Handle handle(TMM_DEVICE_HOST, file);
    tmmGemmProblem_t problem = tmm::problem(45, 75, 21);
    problem.epilogue = TMM_EPILOGUE_CUSTOM;
    problem.expression = "x * p0 + row";
    CHECK_FALSE(contains(handle.plan(problem).describe(), "measured with the plan"));
    handle.set_tuning(true);
    const Plan plan = handle.plan(problem);
    CHECK(contains(plan.describe(), "measured with the plan"));
    // Times are in the text, so that the second plan has the first one's.
    CHECK(handle.plan(problem).describe() == plan.describe());
    CHECK(handle.describe(problem) == handle.bare_plan(problem).describe());
    CHECK(contains(handle.describe(problem), "measured with the plan"));
    const std::vector<float> a(45 * 21, 1), b(21 * 75, 2);
    std::vector<float> c(45 * 75, -1);
    const float alpha = 2, beta = 0;
    tmmGemmArgs_t args = tmm::args(&alpha, a.data(), b.data(), &beta, c.data());
    args.parameters[0] = 0.5F;
    const auto check = [&] {
        for (int row = 0; row < 45; ++row)
            for (int column = 0; column < 75; ++column)
                REQUIRE(c[static_cast<std::size_t>(row * 75 + column)] == 42 + static_cast<float>(row));
    };
    plan.run(args);
    check();
    c.assign(c.size(), -1);
    handle.gemm(problem, args);
    check();
    handle.set_tuning(false);
    CHECK(handle.describe(problem) == handle.bare_plan(problem).describe());
    problem.expression = "x * p0 + row + 0 * column";
    CHECK_FALSE(contains(handle.plan(problem).describe(), "measured with the plan"));
}

TEST_CASE("the emulated device applies an untuned epilogue where it says that it is faster") {
    const api_testing::Product products[] = {
        {.m = 45, .n = 75, .k = 21},
        {.op_b = TMM_TRANS, .m = 33, .n = 40, .k = 16, .pad_c = 3, .type = TMM_BF16, .type_c = TMM_BF16},
        {.m = 4, .n = 64, .k = 40, .type = TMM_F16, .type_c = TMM_F32},
    };
    for (const api_testing::Product& product : products)
        for (const bool has_expression : {false, true}) {
            CAPTURE(product.text());
            CAPTURE(has_expression);
            race_testing::check_race(TMM_DEVICE_HOST, {.product = product, .has_expression = has_expression});
        }
}
