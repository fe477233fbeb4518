// Loading a plan's kernels and running it: each kernel is compiled once however many threads ask, and a run only launches.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "generator/search_space.h"
#include "generator/shapes_file.h"
#include "runtime/executable_plan.h"
#include "runtime/host_device.h"

using namespace tmm;

namespace {

// The system's compiler, counted, slowed down a little, and failing where it is told to.
class CountingCompiler final : public Compiler {
public:
    enum class Mode { compile, reject, absent };

    CompileResult compile(const KernelSource& source) const override {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        switch (mode.load()) {
            case Mode::reject: return CompileFailure{.log = "line 1: no"};
            case Mode::absent: throw std::runtime_error("the compiler is gone");
            case Mode::compile: break;
        }
        return compiler_->compile(source);
    }
    std::string identity() const override { return compiler_->identity(); }

    mutable std::atomic<int> calls = 0;
    std::atomic<Mode> mode = Mode::compile;

private:
    std::unique_ptr<Compiler> compiler_ = make_host_compiler();
};

struct Fixture {
    Fixture()
        : directory(std::filesystem::temp_directory_path() / fmt::format("tmm-test-plan-{}", getpid())),
          compiler(std::make_shared<CountingCompiler>()),
          device(make_host_device("ascending")),
          loader(std::make_unique<KernelLoader>(device, compiler, KernelCache(directory))) {}
    ~Fixture() {
        std::error_code ignored;
        std::filesystem::remove_all(directory, ignored);
    }
    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;

    auto make(const GemmProblem& problem) {
        return ExecutablePlan::make(make_launch_plan(problem, fallback_config(problem), device->info()), *loader);
    }

    std::filesystem::path directory;
    std::shared_ptr<CountingCompiler> compiler;
    std::shared_ptr<Device> device;
    std::unique_ptr<KernelLoader> loader;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "threads that want the same kernel share one compilation, and later plans and processes need none") {
    const GemmProblem problem = parse_shape("8x8x8").problem;
    std::vector<std::thread> threads;
    std::atomic<int> made = 0;
    for (int i = 0; i < 6; ++i) threads.emplace_back([&] { made += std::holds_alternative<ExecutablePlan>(make(problem)); });
    for (std::thread& thread : threads) thread.join();
    CHECK(made == 6);
    CHECK(compiler->calls == 1);
    // Another shape, the same kernel.
    CHECK(std::holds_alternative<ExecutablePlan>(make(parse_shape("9x7x5").problem)));
    CHECK(compiler->calls == 1);
    // Another process finds it in the cache.
    loader = std::make_unique<KernelLoader>(device, compiler, KernelCache(directory));
    CHECK(std::holds_alternative<ExecutablePlan>(make(problem)));
    CHECK(compiler->calls == 1);
}

TEST_CASE_FIXTURE(Fixture, "a kernel that does not compile gives its log, without compiling it again") {
    compiler->mode = CountingCompiler::Mode::reject;
    for (int attempt = 0; attempt < 2; ++attempt) {
        auto result = make(parse_shape("8x8x8").problem);
        REQUIRE(std::holds_alternative<CompileFailure>(result));
        CHECK(std::get<CompileFailure>(result).log == "line 1: no");
    }
    CHECK(compiler->calls == 1);
}

TEST_CASE_FIXTURE(Fixture, "a compiler that fails to run is asked again the next time") {
    compiler->mode = CountingCompiler::Mode::absent;
    CHECK_THROWS_WITH(make(parse_shape("8x8x8").problem), "the compiler is gone");
    compiler->mode = CountingCompiler::Mode::compile;
    CHECK(std::holds_alternative<ExecutablePlan>(make(parse_shape("8x8x8").problem)));
}

TEST_CASE_FIXTURE(Fixture, "alpha = 0 and k = 0 give beta * C and touch neither A nor B") {
    for (const i64 k : {0, 3}) {
        for (const double beta : {0.0, 2.0}) {
            const GemmProblem problem{.m = 2, .n = 3, .k = k, .lda = 3, .ldb = 3, .ldc = 3, .reads_c = true};
            const auto plan = std::get<ExecutablePlan>(make(problem));
            const float nan = std::numeric_limits<float>::quiet_NaN();
            const std::vector<float> operand(9, nan);
            for (const void* pointer : {static_cast<const void*>(nullptr), static_cast<const void*>(operand.data())}) {
                std::vector<float> c(6, beta == 0 ? nan : 1.5f);
                // With k = 0, alpha has nothing to scale.
                plan.run({.a = pointer, .b = pointer, .c = c.data(), .alpha = k == 0 ? 7.0 : 0.0, .beta = beta}, nullptr);
                CHECK(c == std::vector<float>(6, beta == 0 ? 0.0f : 3.0f));
            }
        }
    }
}

TEST_CASE_FIXTURE(Fixture, "a plan with nothing to do has no kernels and runs") {
    const auto plan = std::get<ExecutablePlan>(make(GemmProblem{.m = 0, .n = 3, .k = 3, .lda = 3, .ldb = 3, .ldc = 3}));
    CHECK(plan.plan().steps.empty());
    CHECK(plan.blocks_per_sm() == 0);
    plan.run({}, nullptr);
    CHECK(compiler->calls == 0);
}
