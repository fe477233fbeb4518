// Products of planes on a GPU that has tensor cores for them: how exact they are, which only the hardware's own sums can show.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "generator/choice/validity.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/plan/executable_plan.h"

using namespace tmm;

namespace {

constexpr const char* kTile = "family=wgmma,block_m=128,block_n=128,block_k=64,stages=2,vector_width=8,boundary=hardware,warps_m=2,";

DeviceBuffer on_device(const std::shared_ptr<Device>& device, const std::vector<float>& values) {
    DeviceBuffer buffer(device, values.size() * sizeof(float));
    device->copy_to_device(buffer.data(), values.data(), buffer.bytes());
    return buffer;
}

// Row-major A x B, as a plan of the config computes it; empty where the device has no such kernels.
class PlanesOnGpu {
public:
    PlanesOnGpu() : device_(gpu_count() > 0 ? open_device(0) : nullptr) {
        if (!device_ || device_->info().compute_capability() != 90) {
            MESSAGE("skipped: planes are multiplied on compute capability 9.0 only");
            device_ = nullptr;
        }
    }
    explicit operator bool() const { return device_ != nullptr; }

    std::vector<float> multiply(const GemmProblem& p, const std::string& config_text, const std::vector<float>& a,
                                const std::vector<float>& b) const {
        const KernelConfig config = parse_config(kTile + config_text);
        REQUIRE(why_invalid(p, config, device_->info()).value_or("") == "");
        const auto directory = std::filesystem::temp_directory_path() / fmt::format("tmm-gpu-planes-{}", getpid());
        KernelLoader loader(device_, make_compiler(device_->info()), KernelCache(directory));
        auto made = ExecutablePlan::make(make_launch_plan(p, config, device_->info()), loader);
        std::filesystem::remove_all(directory);
        if (const auto* failure = std::get_if<CompileFailure>(&made)) FAIL(failure->log);
        const auto& plan = std::get<ExecutablePlan>(made);
        const DeviceBuffer device_a = on_device(device_, a), device_b = on_device(device_, b);
        std::vector<float> c(static_cast<std::size_t>(p.m * p.n), NAN);
        const DeviceBuffer device_c = on_device(device_, c);
        const DeviceBuffer workspace(device_, static_cast<std::size_t>(plan.plan().workspace_bytes));
        plan.run({.a = device_a.data(), .b = device_b.data(), .c = device_c.data(), .workspace = workspace.data()}, nullptr);
        device_->copy_to_host(c.data(), device_c.data(), device_c.bytes());
        for (int repeat = 0; repeat < 100; ++repeat) {
            plan.run({.a = device_a.data(), .b = device_b.data(), .c = device_c.data(), .workspace = workspace.data()}, nullptr);
            std::vector<float> again(c.size());
            device_->copy_to_host(again.data(), device_c.data(), device_c.bytes());
            REQUIRE((again == c));
        }
        return c;
    }

private:
    std::shared_ptr<Device> device_;
};

template <class Distribution>
std::vector<float> random_values(i64 count, unsigned seed, Distribution distribution) {
    std::mt19937 random(seed);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(distribution(random));
    return values;
}

double exact(const std::vector<float>& a, const std::vector<float>& b, const GemmProblem& p, i64 i, i64 j) {
    double sum = 0;
    for (i64 k = 0; k < p.k; ++k)
        sum +=
            static_cast<double>(a[static_cast<std::size_t>(i * p.k + k)]) * static_cast<double>(b[static_cast<std::size_t>(k * p.n + j)]);
    return sum;
}

}  // namespace

TEST_CASE("sums of positive numbers are as exact as one rounding makes them, at any depth, and the same each time") {
    const PlanesOnGpu planes;
    if (!planes) return;
    for (const char* config : {"planes=2,promote_k=64", "planes=3,promote_k=16", "planes=2,promote_k=64,split_k=4,cluster=4",
                               "planes=2,promote_k=64,split_k=3"}) {
        for (const i64 depth : {64, 8192}) {
            CAPTURE(std::string(config));
            CAPTURE(depth);
            const GemmProblem p = parse_shape(fmt::format("160x144x{}", depth)).problem;
            const std::vector<float> a = random_values(p.m * p.k, 1, std::uniform_real_distribution(0.0f, 1.0f));
            const std::vector<float> b = random_values(p.k * p.n, 2, std::uniform_real_distribution(0.0f, 1.0f));
            const std::vector<float> c = planes.multiply(p, config, a, b);
            double squared_error = 0, squared = 0, error_sum = 0, sum = 0;
            for (i64 i = 0; i < p.m; i += 7)
                for (i64 j = 0; j < p.n; j += 5) {
                    const double right = exact(a, b, p, i, j);
                    const double error = static_cast<double>(c[static_cast<std::size_t>(i * p.n + j)]) - right;
                    squared_error += error * error;
                    squared += right * right;
                    error_sum += error;
                    sum += right;
                }
            // A loop of FMAs has 1.1e-7 at 64, and 1.2e-6 at 8192.
            CHECK(std::sqrt(squared_error / squared) <= 0.9e-7);
            CHECK(std::abs(error_sum / sum) <= 0.6e-7);
        }
    }
}

TEST_CASE("integers of 11 bits whose sums stay below 2^24 come out exactly") {
    const PlanesOnGpu planes;
    if (!planes) return;
    for (const char* config : {"planes=2,promote_k=64", "planes=2,promote_k=32,split_k=3"}) {
        CAPTURE(std::string(config));
        const GemmProblem p = parse_shape("130x257x777").problem;
        const std::vector<float> a = random_values(p.m * p.k, 3, std::uniform_int_distribution(-2048, 2048));
        const std::vector<float> b = random_values(p.k * p.n, 4, std::uniform_int_distribution(-10, 10));
        const std::vector<float> c = planes.multiply(p, config, a, b);
        int wrong = 0;
        for (i64 i = 0; i < p.m; ++i)
            for (i64 j = 0; j < p.n; ++j) wrong += c[static_cast<std::size_t>(i * p.n + j)] == exact(a, b, p, i, j) ? 0 : 1;
        CHECK(wrong == 0);
    }
}
