#include "tests/support/kernels/correctness.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "generator/plan/launch_plan.h"
#include "generator/text/text.h"
#include "tests/support/temporary_directory.h"
#include "tuner/measure/verification.h"

namespace tmm::testing {
namespace {

struct CorrectnessReport {
    int configs = 0;
    int problems = 0;
    double worst_error_ratio = 0;
    // Each failure says on one line what went wrong and how to repeat it.
    std::vector<std::string> failures;
};

// More threads wait for each other at NVRTC's lock, and at the end for what all of them have begun.
constexpr unsigned kMostThreads = 8;

// Fills the cache with the samples' kernels, in order, a few threads ahead of whoever runs them.
class CompileAhead {
public:
    CompileAhead(const std::vector<Sample>& samples, std::shared_ptr<const Compiler> compiler, const KernelCache& cache,
                 const DeviceInfo& device) {
        for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads); ++i)
            threads_.emplace_back([this, &samples, compiler, &cache, &device] {
                for (std::size_t s = next_++; s < samples.size() && !stop_; s = next_++) {
                    for (const LaunchStep& step : make_launch_plan(samples[s].problems.front(), samples[s].config, device).steps)
                        static_cast<void>(cache.find_or_compile(make_kernel_source(step.signature, step.kernel), *compiler));
                }
            });
    }
    ~CompileAhead() {
        stop_ = true;
        for (std::thread& thread : threads_) thread.join();
    }

private:
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

// 0 seconds stand for no limit.
CorrectnessReport run_samples(const std::vector<Sample>& samples, const std::vector<std::shared_ptr<Device>>& devices,
                              const DeviceInfo& planned_for, double seconds) {
    const auto start = std::chrono::steady_clock::now();
    const TemporaryDirectory directory;
    const KernelCache cache(directory.path() / "kernels", std::int64_t{8} << 30);
    const std::shared_ptr<const Compiler> compiler = make_compiler(devices.front()->info());
    std::vector<std::unique_ptr<KernelLoader>> loaders;
    for (const auto& device : devices) loaders.push_back(std::make_unique<KernelLoader>(device, compiler, cache));
    const CompileAhead ahead(samples, compiler, cache, planned_for);

    const auto is_over = [&] {
        return seconds > 0 && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds;
    };
    CorrectnessReport report;
    for (const Sample& sample : samples) {
        if (is_over()) break;
        ++report.configs;
        for (const GemmProblem& problem : sample.problems) {
            if (is_over()) break;
            ++report.problems;
            for (std::size_t d = 0; d < devices.size(); ++d) {
                const auto fail = [&](const std::string& what) {
                    report.failures.push_back(
                        fmt::format("{} with {} on device {}: {}", to_text(problem), to_text(sample.config), d, what));
                };
                try {
                    auto plan = ExecutablePlan::make(make_launch_plan(problem, sample.config, planned_for), *loaders[d]);
                    if (const auto* failure = std::get_if<CompileFailure>(&plan)) {
                        fail("does not compile: " + failure->log);
                        break;
                    }
                    Verifier verifier(*loaders[d], problem,
                                      VerificationOptions{.alpha = sample.alpha, .beta = sample.beta, .poison_operand_zones = true});
                    const Verdict verdict = verifier.verify(std::get<ExecutablePlan>(plan));
                    if (verdict.outcome != Outcome::ok) fail(verdict.detail);
                    report.worst_error_ratio = std::max(report.worst_error_ratio, verdict.error_ratio);
                } catch (const std::exception& error) {
                    fail(error.what());
                }
            }
        }
    }
    return report;
}

}  // namespace

void check_samples(const std::vector<Sample>& samples, const std::vector<std::shared_ptr<Device>>& devices, const DeviceInfo& planned_for,
                   std::uint64_t seed, const std::string& where) {
    const CorrectnessReport report = run_samples(samples, devices, planned_for, static_cast<double>(test_setting("SECONDS", 0)));
    fmt::print("{} configs, {} problems {}, seed {}: worst error {:.3f} of the bound\n", report.configs, report.problems, where, seed,
               report.worst_error_ratio);
    for (const std::string& failure : report.failures) MESSAGE(failure);
    CHECK(report.failures.empty());
    CHECK(report.configs > 0);
    CHECK(report.worst_error_ratio > 0);
}

long long test_setting(const char* name, long long otherwise) {
    const char* value = std::getenv(fmt::format("TMM_TEST_{}", name).c_str());
    return value && *value ? std::atoll(value) : otherwise;
}

std::uint64_t test_seed() {
    return static_cast<std::uint64_t>(test_setting("SEED", 20261120));
}

}  // namespace tmm::testing
