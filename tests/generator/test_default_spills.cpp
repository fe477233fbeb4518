// Tests that the kernels that an untuned shape gets spill no registers, but for one, on any architecture: a slice of the problems, all with
// TMM_TEST_FULL=1.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "generator/choice/predicted_config.h"
#include "generator/compile/compiler.h"
#include "generator/compile/kernel_cache.h"
#include "generator/kernel/kernel_source.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/slice.h"

using namespace tmm;

namespace {

// The sizes are large, with whole tiles and without, small, of few rows, of few columns, of one row, and deep.
const char* const kSizes[] = {"4096 4096 4096", "1000 1000 1000", "512 512 512",    "127 129 131", "64 64 64",    "256 4096 512",
                              "16 4096 4096",   "4096 8 4096",    "1 4096 4096",    "5000 1 5000", "64 64 65536", "33 33 33 batch=500",
                              "100 90 70",      "2048 2048 64",   "4097 4095 1023", "12 20000 300"};
const char* const kKinds[] = {
    "",          " align=4",   " compute=f32_strict", " dtype=bf16", " dtype=bf16 align=2", " dtype=f16 ctype=f32",
    " beta=0.5", " dtype=f64", " dtype=f64 align=8",  " dtype=s8"};
const char* const kTransposes[] = {"nn", "nt", "tn", "tt"};

// Bytes of a thread that a kernel spills: one of 2,519 does.
int known_spills(const std::string& shape, int architecture) {
    return architecture == 86 && shape == "64 64 65536 align=4 ops=tn" ? 16 : 0;
}

struct Job {
    std::string text;
    int architecture;
    KernelSource source;
    CompileResult result;
};

}  // namespace

TEST_CASE("the default config of an untuned shape spills on no architecture") {
    if (nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    std::vector<Job> jobs;
    std::map<std::pair<int, std::string>, bool> known;
    std::size_t number = 0;
    for (const char* architecture : {"75", "80", "86", "89", "90", "100", "120"}) {
        const DeviceInfo device = assumed_device(architecture);
        for (const char* size : kSizes)
            for (const char* kind : kKinds)
                for (const char* operations : kTransposes) {
                    if (!tmm::testing::in_slice(number++, 97)) continue;
                    const std::string text = std::string(size) + kind + " ops=" + operations;
                    const GemmProblem problem = parse_shape(text).problem;
                    const LaunchPlan plan = make_launch_plan(problem, default_config(problem, device), device);
                    for (const LaunchStep& step : plan.steps) {
                        KernelSource source = make_kernel_source(step.signature, step.kernel);
                        if (known.emplace(std::pair(device.compute_capability(), source.name), true).second)
                            jobs.push_back({text, device.compute_capability(), std::move(source), {}});
                    }
                }
    }
    // Kernels that an earlier run compiled need not be compiled again.
    const KernelCache cache(std::filesystem::path(TMM_BINARY_DIR) / "test_cache" / "default_spills");
    std::atomic<std::size_t> next = 0;
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
            threads.emplace_back([&] {
                for (std::size_t job; (job = next++) < jobs.size();)
                    jobs[job].result = cache.find_or_compile(jobs[job].source, *make_nvrtc_compiler(jobs[job].architecture));
            });
    }
    int compiled = 0;
    for (const Job& job : jobs) {
        CAPTURE(job.text);
        CAPTURE(job.architecture);
        CAPTURE(job.source.name);
        if (const auto* failure = std::get_if<CompileFailure>(&job.result)) {
            FAIL_CHECK(failure->log);
            continue;
        }
        ++compiled;
        CHECK(std::get<CompiledKernel>(job.result).spill_bytes <= known_spills(job.text, job.architecture));
    }
    CHECK(compiled >= 20);
    MESSAGE(compiled, " kernels of default configs");
}
