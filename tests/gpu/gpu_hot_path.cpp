// What a call costs once its plan exists: neither allocations nor locks nor files, and of the driver nothing but launches and what they
// need. The times of tmmPlanRun and tmmGemm beside bare launches of the same kernels are printed. test_hot_path runs the same program with
// a stand-in for the driver.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "generator/plan/launch_plan.h"
#include "runtime/device/cuda_driver.h"
#include "tests/gpu/counted_calls.h"
#include "tests/support/api_testing.h"
#include "tests/support/captured_stream.h"

using namespace api_testing;
using tmm::CudaDriver;
using tmm::testing::CountedCalls;

namespace {

// Calls of the driver by name, while they are watched.
std::map<std::string, long, std::less<>>& driver_calls() {
    static std::map<std::string, long, std::less<>> calls;
    return calls;
}

// A launch as the driver got it, to be launched again.
struct Launch {
    CUlaunchConfig config{};
    std::array<CUlaunchAttribute, 3> attributes{};
    CUfunction function = nullptr;
    alignas(64) std::array<std::byte, tmm::kMaxArgumentBytes> arguments{};
};
// Null where launches are not kept.
std::deque<Launch>* kept_launches = nullptr;

void keep(const CUlaunchConfig* config, CUfunction function, void** parameters, void**) {
    if (!kept_launches) return;
    Launch& launch = kept_launches->emplace_back();
    launch.config = *config;
    std::copy_n(config->attrs, config->numAttrs, launch.attributes.begin());
    launch.function = function;
    // tmm's kernels have one parameter, in a buffer of that size.
    std::memcpy(launch.arguments.data(), parameters[0], launch.arguments.size());
}

// Other functions leave nothing to keep.
template <class... Arguments>
void keep(Arguments...) {}

// Puts a function that counts in the place of one of the driver's.
template <auto Member>
struct Watched;
template <class... Arguments, CUresult (*CudaDriver::*Member)(Arguments...)>
struct Watched<Member> {
    static inline CUresult (*real)(Arguments...) = nullptr;
    static inline const char* name = nullptr;
    static CUresult call(Arguments... arguments) {
        // What the driver does in itself is its own.
        const tmm::testing::Uncounted uncounted;
        ++driver_calls()[name];
        keep(arguments...);
        return real(arguments...);
    }
    static void put(CudaDriver& driver, const char* its_name) {
        name = its_name;
        real = driver.*Member;
        if (real) driver.*Member = call;
    }
    static void take_back(CudaDriver& driver) { driver.*Member = real; }
};

template <class Each>
void for_each_function(const Each& each) {
    each.template operator()<&CudaDriver::context_current>("cuCtxGetCurrent");
    each.template operator()<&CudaDriver::context_push>("cuCtxPushCurrent");
    each.template operator()<&CudaDriver::context_pop>("cuCtxPopCurrent");
    each.template operator()<&CudaDriver::launch>("cuLaunchKernelEx");
    each.template operator()<&CudaDriver::tensor_map_encode_tiled>("cuTensorMapEncodeTiled");
    each.template operator()<&CudaDriver::tensor_map_replace_address>("cuTensorMapReplaceAddress");
    each.template operator()<&CudaDriver::primary_context_retain>("cuDevicePrimaryCtxRetain");
    each.template operator()<&CudaDriver::memory_allocate>("cuMemAlloc");
    each.template operator()<&CudaDriver::memory_free>("cuMemFree");
    each.template operator()<&CudaDriver::copy_to_device>("cuMemcpyHtoD");
    each.template operator()<&CudaDriver::copy_to_host>("cuMemcpyDtoH");
    each.template operator()<&CudaDriver::fill_bytes>("cuMemsetD8");
    each.template operator()<&CudaDriver::module_load>("cuModuleLoadDataEx");
    each.template operator()<&CudaDriver::module_function>("cuModuleGetFunction");
    each.template operator()<&CudaDriver::function_set_attribute>("cuFuncSetAttribute");
    each.template operator()<&CudaDriver::function_load>("cuFuncLoad");
    each.template operator()<&CudaDriver::resident_blocks>("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    each.template operator()<&CudaDriver::device_attribute>("cuDeviceGetAttribute");
    each.template operator()<&CudaDriver::stream_create>("cuStreamCreate");
    each.template operator()<&CudaDriver::stream_synchronize>("cuStreamSynchronize");
    each.template operator()<&CudaDriver::capture_mode_exchange>("cuThreadExchangeStreamCaptureMode");
    each.template operator()<&CudaDriver::event_record>("cuEventRecord");
    each.template operator()<&CudaDriver::event_synchronize>("cuEventSynchronize");
}

// The driver's functions are watched while this lives.
class WatchedDriver {
public:
    WatchedDriver() {
        driver_calls().clear();
        for_each_function([&]<auto Member>(const char* name) { Watched<Member>::put(driver_, name); });
    }
    ~WatchedDriver() {
        for_each_function([&]<auto Member>(const char*) { Watched<Member>::take_back(driver_); });
    }
    WatchedDriver(const WatchedDriver&) = delete;
    WatchedDriver& operator=(const WatchedDriver&) = delete;

private:
    // The table itself is no constant.
    CudaDriver& driver_ = const_cast<CudaDriver&>(tmm::cuda_driver());
};

// Calls that a launch takes: the context made current, addresses put into tensor maps, and the launch.
bool belongs_to_a_launch(const std::string& name) {
    return name == "cuCtxGetCurrent" || name == "cuCtxPushCurrent" || name == "cuCtxPopCurrent" || name == "cuLaunchKernelEx" ||
           name == "cuTensorMapReplaceAddress";
}

constexpr int kCalls = 50;

// What calls do once they were made before.
void check_costs_nothing(const std::function<tmmStatus_t()>& call) {
    for (int i = 0; i < 2; ++i) REQUIRE_MESSAGE(call() == TMM_STATUS_SUCCESS, tmmLastError(nullptr));
    CountedCalls counted;
    tmmStatus_t status = TMM_STATUS_SUCCESS;
    {
        const WatchedDriver watched;
        tmm::testing::begin_counting();
        for (int i = 0; i < kCalls; ++i)
            if (const tmmStatus_t of_call = call(); of_call != TMM_STATUS_SUCCESS) status = of_call;
        counted = tmm::testing::end_counting();
    }
    CHECK(status == TMM_STATUS_SUCCESS);
    CHECK(counted.allocations == 0);
    CHECK(counted.frees == 0);
    CHECK(counted.locks == 0);
    CHECK(counted.system_calls == 0);
    CHECK(driver_calls()["cuLaunchKernelEx"] >= kCalls);
    CHECK(driver_calls()["cuLaunchKernelEx"] % kCalls == 0);
    for (const auto& [name, count] : driver_calls()) {
        CAPTURE(name);
        CAPTURE(count);
        CHECK(belongs_to_a_launch(name));
    }
}

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

// Nanoseconds a call, of each by turns.
std::vector<double> nanoseconds(const Fixture& on, const std::vector<std::function<void()>>& calls) {
    std::vector<std::vector<double>> times(calls.size());
    for (int round = 0; round < 60; ++round) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            // The queue is empty at first, and has room for all.
            on.device->synchronize();
            const auto begin = Clock::now();
            for (int call = 0; call < 100; ++call) calls[i]();
            times[i].push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / 100);
        }
    }
    std::vector<double> medians;
    for (const auto& of_call : times) medians.push_back(median(of_call));
    return medians;
}

struct Sample {
    const char* name;
    Product product;
    bool has_bias = false;
    std::size_t offset = 0;
};

const Sample kSamples[] = {
    {.name = "f32, planes on tensor cores", .product = {.m = 1024, .n = 1024, .k = 1024}},
    {.name = "f32, unaligned and odd", .product = {.m = 129, .n = 65, .k = 77, .pad_a = 1}, .offset = 1},
    {.name = "f32, deep K in a workspace", .product = {.m = 64, .n = 64, .k = 65536}},
    {.name = "bf16", .product = {.m = 512, .n = 512, .k = 512, .type = TMM_BF16, .type_c = TMM_BF16}},
    {.name = "bf16 with bias", .product = {.m = 512, .n = 512, .k = 512, .type = TMM_BF16, .type_c = TMM_BF16}, .has_bias = true},
    {.name = "f16, one row", .product = {.m = 1, .n = 1024, .k = 1024, .type = TMM_F16, .type_c = TMM_F16}},
};

// A sample's operands on a device, its plan, and its problem.
class Call {
public:
    Call(const Fixture& on, const Sample& sample)
        : p_(sample.product),
          on_(on),
          a_(on, std::vector<float>(p_.size_a(), 1), sample.offset, p_.type),
          b_(on, std::vector<float>(p_.size_b(), 1), sample.offset, p_.type),
          c_(on, std::vector<float>(p_.size_c(), 0), sample.offset, p_.type_c),
          bias_(on, std::vector<float>(static_cast<std::size_t>(p_.n), 1), 0, p_.type_c),
          problem_(problem_of(p_)),
          args_(args_of(p_, a_.data(), b_.data(), c_.data())) {
        problem_.has_bias = sample.has_bias;
        problem_.type_bias = p_.type_c;
        args_.bias = sample.has_bias ? bias_.address() : nullptr;
        REQUIRE_MESSAGE(tmmPlanCreate(on.handle, &problem_, &plan_) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
    }
    ~Call() { tmmPlanDestroy(plan_); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    tmmStatus_t run() const { return tmmPlanRun(plan_, nullptr, &args_); }
    tmmStatus_t gemm() const { return tmmGemm(on_.handle, &problem_, &args_); }
    std::string config() const {
        std::array<char, 4096> text{};
        tmmPlanDescribe(plan_, text.data(), text.size());
        const std::string words = text.data();
        return words.substr(0, words.find('\n'));
    }

private:
    Product p_;
    const Fixture& on_;
    OnDevice a_, b_, c_, bias_;
    tmmGemmProblem_t problem_;
    tmmGemmArgs_t args_;
    tmmPlan_t plan_ = nullptr;
};

}  // namespace

TEST_CASE("calls behind the first allocate nothing, lock nothing, open nothing and wait for nothing") {
    if (no_gpu()) return;
    const Fixture on(0);
    for (const Sample& sample : kSamples) {
        const Call call(on, sample);
        const std::string name = sample.name;
        CAPTURE(name);
        const std::string config = call.config();
        CAPTURE(config);
        SUBCASE("tmmPlanRun") {
            check_costs_nothing([&] { return call.run(); });
        }
        SUBCASE("tmmGemm") {
            check_costs_nothing([&] { return call.gemm(); });
        }
    }
}

TEST_CASE("the time that tmmPlanRun and tmmGemm take beside bare launches of the same kernels") {
    if (no_gpu()) return;
    const Fixture on(0);
    const CapturedStream current;
    for (const Sample& sample : kSamples) {
        const Call call(on, sample);
        REQUIRE(call.run() == TMM_STATUS_SUCCESS);
        REQUIRE(call.gemm() == TMM_STATUS_SUCCESS);
        std::deque<Launch> launches;
        {
            const WatchedDriver watched;
            kept_launches = &launches;
            CHECK(call.run() == TMM_STATUS_SUCCESS);
            kept_launches = nullptr;
        }
        const CudaDriver& driver = tmm::cuda_driver();
        long failures = 0;
        const auto bare = [&] {
            for (Launch& launch : launches) {
                launch.config.attrs = launch.attributes.data();
                void* parameters[] = {launch.arguments.data()};
                failures += driver.launch(&launch.config, launch.function, parameters, nullptr) != CUDA_SUCCESS;
            }
        };
        const auto times = nanoseconds(
            on, {bare, [&] { failures += call.run() != TMM_STATUS_SUCCESS; }, [&] { failures += call.gemm() != TMM_STATUS_SUCCESS; }});
        CHECK(failures == 0);
        MESSAGE(std::string(sample.name) << ": " << launches.size() << " launches take " << static_cast<long>(times[0])
                                         << " ns, tmmPlanRun " << static_cast<long>(times[1] - times[0]) << " ns more, tmmGemm "
                                         << static_cast<long>(times[2] - times[0]) << " ns more (" << call.config() << ")");
    }
}
