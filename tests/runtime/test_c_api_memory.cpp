// What calls of the C interface do to memory: results that meet an operand are refused, streams without end take no memory without end, and
// kernels of expressions go when nobody uses them.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "runtime/api/handle.h"
#include "runtime/api/validate.h"
#include "runtime/plan/workspace_pool.h"
#include "tests/support/api_call_testing.h"
#include "tests/support/api_testing.h"

using namespace api_testing;

namespace {

CUstream_st* stream_of(int number) {
    return reinterpret_cast<CUstream_st*>(static_cast<std::uintptr_t>(number) * 4096);
}

std::size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

// The emulated device, which counts what is allocated.
class CountingDevice final : public tmm::Device {
public:
    const tmm::DeviceInfo& info() const override { return device_->info(); }
    void* allocate(std::size_t bytes) override {
        held += static_cast<int>(bytes != 0);
        return device_->allocate(bytes);
    }
    void release(void* memory) noexcept override {
        held -= static_cast<int>(memory != nullptr);
        device_->release(memory);
    }
    void copy_to_device(void* to, const void* from, std::size_t bytes) override { device_->copy_to_device(to, from, bytes); }
    void copy_to_host(void* to, const void* from, std::size_t bytes) override { device_->copy_to_host(to, from, bytes); }
    void fill_bytes(void* memory, unsigned char value, std::size_t bytes) override { device_->fill_bytes(memory, value, bytes); }
    std::shared_ptr<const tmm::LoadedKernel> load(const tmm::CompiledKernel& kernel, const std::string& entry) override {
        return device_->load(kernel, entry);
    }
    void launch(const tmm::LoadedKernel& kernel, const tmm::LaunchShape& shape, const void* arguments, std::size_t bytes,
                tmm::Stream stream) override {
        device_->launch(kernel, shape, arguments, bytes, stream);
    }
    void encode_tensor_map(const tmm::TensorMapRequest& request, void* map) const override { device_->encode_tensor_map(request, map); }
    void set_address(void* map, const void* address) const override { device_->set_address(map, address); }
    void synchronize(tmm::Stream) override {}
    bool is_recorded(tmm::Stream stream) override { return recorded.contains(stream); }
    std::unique_ptr<tmm::Replay> record(const std::function<void(tmm::Stream)>& launches) override { return device_->record(launches); }
    tmm::DeviceState state() override { return {}; }
    int blocks_per_sm(const tmm::LoadedKernel&, int, std::int64_t) override { return 0; }

    int held = 0;
    std::set<tmm::Stream> recorded;

private:
    std::shared_ptr<tmm::Device> device_ = tmm::open_device(TMM_DEVICE_HOST);
};

struct Expression {
    std::string text;
    tmmGemmProblem_t problem;
    explicit Expression(const Call& call, int number) : text(fmt::format("x * {}.5f", number)), problem(call.problem) {
        problem.epilogue = TMM_EPILOGUE_CUSTOM;
        problem.expression = text.c_str();
    }
};

}  // namespace

TEST_CASE("a result that meets what it is made of is refused, wherever they meet") {
    for (const int ordinal : devices()) {
        Fixture on(ordinal);
        const OnDevice memory(on, std::vector<float>(1000, 1.0f));
        float* const base = memory.data();
        const auto status = [&](const std::function<void(Call&)>& change) {
            Call call(on);
            call.args.a = base;
            call.args.b = base + 100;
            call.args.c = base + 200;
            change(call);
            const tmmStatus_t of_call = tmmGemm(on.handle, &call.problem, &call.args);
            tmmPlan_t plan = nullptr;
            REQUIRE(tmmPlanCreate(on.handle, &call.problem, &plan) == TMM_STATUS_SUCCESS);
            CHECK(tmmPlanRun(plan, nullptr, &call.args) == of_call);
            if (of_call != TMM_STATUS_SUCCESS) CHECK(std::string(tmmLastError(on.handle)).find("c shares memory with ") == 0);
            tmmPlanDestroy(plan);
            return of_call;
        };
        const auto with_bias = [](Call& call, const void* bias) {
            call.problem.has_bias = 1;
            call.args.bias = bias;
        };
        const auto with_residual = [](Call& call, const void* residual) {
            call.problem.has_residual = 1;
            call.problem.ldr = 5;
            call.args.residual = residual;
        };
        // C has 4 x 5 elements, A 4 x 6, B 6 x 5.
        CHECK(status([&](Call&) {}) == TMM_STATUS_SUCCESS);
        CHECK(status([&](Call& call) { call.args.c = base; }) == TMM_STATUS_OVERLAP);
        CHECK(status([&](Call& call) { call.args.c = base + 23; }) == TMM_STATUS_OVERLAP);
        CHECK(status([&](Call& call) { call.args.c = base + 24; }) == TMM_STATUS_SUCCESS);
        CHECK(status([&](Call& call) { call.args.b = base + 181; }) == TMM_STATUS_OVERLAP);
        CHECK(status([&](Call& call) { call.args.b = base + 170; }) == TMM_STATUS_SUCCESS);
        CHECK(status([&](Call& call) { with_bias(call, base + 219); }) == TMM_STATUS_OVERLAP);
        CHECK(status([&](Call& call) { with_bias(call, base + 220); }) == TMM_STATUS_SUCCESS);
        CHECK(status([&](Call& call) { with_residual(call, base + 205); }) == TMM_STATUS_OVERLAP);
        CHECK(status([&](Call& call) { with_residual(call, base + 220); }) == TMM_STATUS_SUCCESS);
        // What is not read may lie anywhere.
        CHECK(status([&](Call& call) { call.args.alpha = &call.zero, call.args.a = base + 200; }) == TMM_STATUS_SUCCESS);
        // Windows of one matrix with rows of 20 elements: side by side they do not meet.
        const auto windows = [&](std::int64_t column) {
            return status([&](Call& call) {
                call.problem.lda = call.problem.ldb = call.problem.ldc = 20;
                call.args.b = base + 7;
                call.args.c = base + column;
            });
        };
        CHECK(windows(12) == TMM_STATUS_SUCCESS);
        CHECK(windows(11) == TMM_STATUS_OVERLAP);
        CHECK(windows(15) == TMM_STATUS_SUCCESS);
        CHECK(windows(16) == TMM_STATUS_OVERLAP);
        CHECK(windows(6) == TMM_STATUS_OVERLAP);
        // The second member of a batch meets an operand of the first.
        CHECK(status([&](Call& call) {
                  call.problem.batch = 2;
                  call.problem.stride_a = 24, call.problem.stride_b = 30, call.problem.stride_c = 50;
                  call.args.c = base + 60;
              }) == TMM_STATUS_OVERLAP);
        // Columns: what is B to the caller is A to a kernel, and the message names the caller's.
        CHECK(status([&](Call& call) {
                  call.problem.layout = TMM_COL_MAJOR;
                  call.problem.lda = 4, call.problem.ldb = 6, call.problem.ldc = 4;
                  call.args.c = base + 110;
              }) == TMM_STATUS_OVERLAP);
        CHECK(std::string(tmmLastError(on.handle)).find("c shares memory with b,") == 0);
    }
}

TEST_CASE("tmmSgemm refuses what tmmHostSgemm, which copies first, multiplies") {
    Fixture on(TMM_DEVICE_HOST);
    std::vector<float> a(16, 1.0f);
    const float one = 1, zero = 0;
    const auto multiply = [&](auto* function) {
        return function(on.handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 4, 4, 4, &one, a.data(), 4, a.data(), 4, &zero, a.data(), 4);
    };
    CHECK(multiply(tmmSgemm) == TMM_STATUS_OVERLAP);
    CHECK(a == std::vector<float>(16, 1.0f));
    CHECK(multiply(tmmHostSgemm) == TMM_STATUS_SUCCESS);
    CHECK(a == std::vector<float>(16, 4.0f));
}

TEST_CASE("one handle multiplies on any stream, and waits for one") {
    for (const int ordinal : devices()) {
        Fixture on(ordinal);
        Call call(on);
        CUstream_st* const stream = ordinal == TMM_DEVICE_HOST ? stream_of(7) : nullptr;
        REQUIRE(tmmGemmOnStream(on.handle, stream, &call.problem, &call.args) == TMM_STATUS_SUCCESS);
        CHECK(tmmSynchronize(on.handle, stream) == TMM_STATUS_SUCCESS);
        CHECK(call.c.read()[0] == 6);
        CHECK(tmmGemmOnStream(nullptr, stream, &call.problem, &call.args) == TMM_STATUS_INVALID_HANDLE);
        CHECK(tmmSynchronize(nullptr, stream) == TMM_STATUS_INVALID_HANDLE);
    }
}

TEST_CASE("workspaces of a thousand streams are bounded, and those of recorded launches stay") {
    const auto device = std::make_shared<CountingDevice>();
    {
        tmm::WorkspacePool pool(device);
        const auto leased = [&](int stream, std::size_t bytes) { return pool.lease(stream_of(stream), bytes).data(); };
        device->recorded = {stream_of(3), stream_of(4)};
        const std::set<void*> recorded{leased(3, 1 << 20), leased(4, 1 << 20)};
        for (int stream = 5; stream < 1000; ++stream) CHECK_FALSE(recorded.contains(leased(stream, 1 << 20)));
        CHECK(device->held == tmm::WorkspacePool::kMost);
        // Streams that were used last keep theirs.
        void* const last = leased(999, 1 << 20);
        CHECK(leased(998, 1 << 20) != last);
        CHECK(leased(999, 1 << 20) == last);
        CHECK(recorded == std::set<void*>{leased(3, 1 << 20), leased(4, 1 << 20)});
        // Those that are held at once are as many as are asked for.
        {
            std::vector<std::unique_ptr<tmm::WorkspacePool::Lease>> held;
            std::set<void*> places;
            for (int i = 0; i < 2 * tmm::WorkspacePool::kMost; ++i) {
                held.emplace_back(new tmm::WorkspacePool::Lease(pool.lease(stream_of(2), 1 << 20)));
                places.insert(held.back()->data());
            }
            CHECK(places.size() == held.size());
        }
        CHECK(leased(1, 8 << 20) != nullptr);
    }
    CHECK(device->held == 0);
}

TEST_CASE("kernels of expressions go when nobody uses them, those that plans hold stay") {
    Fixture on(TMM_DEVICE_HOST);
    Call call(on);
    const auto plan_of = [&](int number) {
        const Expression expression(call, number);
        tmmPlan_t plan = nullptr;
        REQUIRE(tmmPlanCreate(on.handle, &expression.problem, &plan) == TMM_STATUS_SUCCESS);
        REQUIRE(tmmPlanRun(plan, nullptr, &call.args) == TMM_STATUS_SUCCESS);
        CHECK(call.c.read()[0] == 6 * (static_cast<float>(number) + 0.5f));
        return plan;
    };
    // The last four kernels are kept.
    for (int number = 0; number < 4; ++number) tmmPlanDestroy(plan_of(number));
    const std::size_t before = mappings();
    for (int number = 3; number < 8; ++number) tmmPlanDestroy(plan_of(number));
    CHECK(mappings() <= before + 5);

    // One that a plan holds is loaded once, however many others come and go.
    const tmmPlan_t kept = plan_of(0);
    for (int number = 3; number < 8; ++number) tmmPlanDestroy(plan_of(number));
    const std::size_t with_one = mappings();
    const tmmPlan_t second = plan_of(0);
    CHECK(mappings() <= with_one);
    tmmPlanDestroy(second);
    REQUIRE(tmmPlanRun(kept, nullptr, &call.args) == TMM_STATUS_SUCCESS);
    CHECK(call.c.read()[0] == 3);
    tmmPlanDestroy(kept);
}

TEST_CASE("a recorded call of an expression runs again when its plan and the recent kernels are gone") {
    Fixture on(TMM_DEVICE_HOST);
    Call call(on);
    tmm::RuntimeHandle handle(TMM_DEVICE_HOST, on.scratch.file("none.db"));
    const auto multiply = [&](int number, std::int64_t m, std::int64_t k, tmm::Stream stream) {
        Expression expression(call, number);
        expression.problem.m = m;
        expression.problem.k = k;
        const tmm::CheckedProblem checked = tmm::check_problem(&expression.problem);
        handle.gemm(checked.request, tmm::check_args(checked, &call.args).call, 0, stream);
    };
    multiply(0, 4, 6, nullptr);
    const std::unique_ptr<tmm::Replay> replay = handle.device()->record([&](tmm::Stream stream) { multiply(0, 4, 6, stream); });
    for (int number = 3; number < 8; ++number) multiply(number, 4, 6, nullptr);
    // More problems than the handle keeps plans of expressions, by one kernel.
    static_assert(10 * 7 > tmm::PlanCache::kExpressions);
    for (std::int64_t m = 1; m <= 10; ++m)
        for (std::int64_t k = 0; k <= 6; ++k) multiply(7, m, k, nullptr);
    replay->run_timed();
    CHECK(call.c.read()[0] == 3);
}
