// Loading a plan's kernels and running it: each kernel is compiled once however many threads ask, and a run only launches.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/plan_testing.h"
#include "tests/support/slice.h"

using namespace tmm;
using tmm::testing::in_slice;

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
        return ExecutablePlan::make(make_launch_plan(problem, fallback_config(), device->info()), *loader);
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
    // Another shape takes the same kernel.
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

TEST_CASE_FIXTURE(Fixture, "a cached kernel that does not load is compiled again, and replaced") {
    const GemmProblem problem = parse_shape("8x8x8").problem;
    const LaunchPlan plan = make_launch_plan(problem, fallback_config(), device->info());
    REQUIRE(plan.steps.size() == 1);
    const KernelSource source = make_kernel_source(plan.steps[0].signature, plan.steps[0].kernel);
    const KernelCache cache(directory);
    CompiledKernel good = std::get<CompiledKernel>(make_host_compiler()->compile(source));
    CompiledKernel bad = good;
    SUBCASE("text") {
        bad.image.assign(5000, std::byte{'x'});
    }
    SUBCASE("cut short") {
        bad.image.resize(bad.image.size() / 2);
    }
    SUBCASE("another shared object") {
        bad.image = std::get<CompiledKernel>(make_host_compiler()->compile({.name = "other", .text = "int other;\n", .entries = {}})).image;
    }
    cache.store(source, *compiler, bad);
    CHECK(std::holds_alternative<ExecutablePlan>(ExecutablePlan::make(plan, *loader)));
    CHECK(compiler->calls == 1);
    const auto kept = cache.find(source, *compiler);
    REQUIRE(kept);
    CHECK(kept->image.size() == good.image.size());
    KernelLoader another(device, compiler, KernelCache(directory));
    CHECK(std::holds_alternative<ExecutablePlan>(ExecutablePlan::make(plan, another)));
    CHECK(compiler->calls == 1);
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

TEST_CASE_FIXTURE(Fixture, "a trimmed product is whole, and nothing but it is written") {
    const std::string tile = "family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=2,vector_width=4,trim=1,boundary=";
    struct Trimmed {
        std::string config;
        i64 m, n, k;
        std::size_t edges;
    };
    const Trimmed cases[] = {{tile + "peeled", 33, 35, 37, 2},
                             {tile + "exact", 33, 35, 40, 2},
                             {tile + "peeled,split_k=3,pack_ab=3", 33, 35, 37, 2},
                             {tile + "peeled,split_k=4,cluster=2,pack_ab=2", 33, 35, 37, 2},
                             {tile + "exact,pack_ab=1", 16, 48, 40, 1},
                             {tile + "peeled", 47, 51, 37, 1},
                             {tile + "peeled", 15, 33, 37, 1},
                             {tile + "peeled,split_k=3", 17, 31, 37, 1}};
    std::size_t index = 0;
    for (const Trimmed& one : cases) {
        for (const int ops : {0, 1, 2, 3}) {
            for (const i64 pad : {0, 1, 4}) {
                if (!in_slice(index++, 5)) continue;
                CAPTURE(one.config);
                CAPTURE(ops);
                CAPTURE(pad);
                const KernelConfig config = parse_config(one.config);
                GemmProblem p{.m = one.m, .n = one.n, .k = one.k, .batch = pad == 1 ? 1 : 2, .alignment = 4, .reads_c = pad != 0};
                p.op_a = ops & 1 ? Operation::transpose : Operation::none;
                p.op_b = ops & 2 ? Operation::transpose : Operation::none;
                // With a padding of 4, rows and matrices are as aligned as can be; without it, they are aligned as they come.
                const auto ld = [&](i64 columns) { return pad == 4 ? (columns + 7) / 4 * 4 : columns + pad; };
                p.lda = ld(stored_columns_a(p));
                p.ldb = ld(stored_columns_b(p));
                p.ldc = ld(p.n);
                if (pad == 4) p.alignment = 16;
                const i64 size_a = stored_rows_a(p) * p.lda;
                const i64 size_b = stored_rows_b(p) * p.ldb;
                const i64 size_c = p.m * p.ldc;
                if (p.batch > 1) {
                    p.stride_a = size_a;
                    p.stride_b = size_b;
                    p.stride_c = size_c;
                }
                REQUIRE(why_invalid(p, config, device->info()).value_or("") == "");
                const LaunchPlan launches = make_launch_plan(p, config, device->info());
                CHECK(std::count_if(launches.steps.begin(), launches.steps.end(), [](const LaunchStep& step) {
                          return is_of_family(step, family::gemv);
                      }) == static_cast<std::ptrdiff_t>(one.edges));
                auto made = ExecutablePlan::make(launches, *loader);
                REQUIRE(std::holds_alternative<ExecutablePlan>(made));

                // Small integers: sums are exact. The heap's pointers are multiples of 16.
                const auto filled = [&](i64 size, int factor) {
                    std::vector<float> values(static_cast<std::size_t>(size * p.batch));
                    for (std::size_t i = 0; i < values.size(); ++i)
                        values[i] = static_cast<float>(static_cast<int>(i * 7 % 11) * factor % 9 - 4);
                    return values;
                };
                const std::vector<float> a = filled(size_a, 5);
                const std::vector<float> b = filled(size_b, 7);
                std::vector<float> c = filled(size_c, 2);
                const double beta = p.reads_c ? 3 : 0;
                std::vector<float> expected = c;
                for (i64 member = 0; member < p.batch; ++member)
                    for (i64 i = 0; i < p.m; ++i)
                        for (i64 j = 0; j < p.n; ++j) {
                            float sum = 0;
                            for (i64 k = 0; k < p.k; ++k)
                                sum += a[static_cast<std::size_t>(member * size_a + (ops & 1 ? k * p.lda + i : i * p.lda + k))] *
                                       b[static_cast<std::size_t>(member * size_b + (ops & 2 ? j * p.ldb + k : k * p.ldb + j))];
                            float& element = expected[static_cast<std::size_t>(member * size_c + i * p.ldc + j)];
                            element = 2 * sum + static_cast<float>(beta) * element;
                        }
                std::vector<float> workspace(static_cast<std::size_t>(launches.workspace_bytes / 4) + 64,
                                             std::numeric_limits<float>::quiet_NaN());
                void* aligned = workspace.data();
                std::size_t space = workspace.size() * sizeof(float);
                REQUIRE(std::align(256, static_cast<std::size_t>(launches.workspace_bytes), aligned, space));
                std::get<ExecutablePlan>(made).run(
                    {.a = a.data(), .b = b.data(), .c = c.data(), .workspace = aligned, .alpha = 2, .beta = beta}, nullptr);
                device->synchronize();
                CHECK((c == expected));
            }
        }
    }
}

TEST_CASE_FIXTURE(Fixture,
                  "blocks that share tiles share them too where there is no product: alpha = 0 leaves beta C, NaN in A and B unread") {
    const KernelConfig config = parse_config(
        "family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=3,async_copy=1,vector_width=4,boundary=peeled,stream_k="
        "1");
    // For the four SMs there are one tile, three tiles, and eleven tiles of which three are shared.
    for (const char* shape : {"13x27x100 beta=1", "45x30x100 beta=1", "170x30x100 beta=1"}) {
        CAPTURE(shape);
        const GemmProblem p = parse_shape(shape).problem;
        REQUIRE(why_invalid(p, config, device->info()).value_or("") == "");
        const LaunchPlan launches = make_launch_plan(p, config, device->info());
        REQUIRE(launches.steps.size() == 2);
        auto made = ExecutablePlan::make(launches, *loader);
        REQUIRE(std::holds_alternative<ExecutablePlan>(made));
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> a(static_cast<std::size_t>(p.m * p.k), nan);
        const std::vector<float> b(static_cast<std::size_t>(p.k * p.n), nan);
        std::vector<float> workspace(static_cast<std::size_t>(launches.workspace_bytes / 4) + 64, nan);
        void* aligned = workspace.data();
        std::size_t space = workspace.size() * sizeof(float);
        REQUIRE(std::align(256, static_cast<std::size_t>(launches.workspace_bytes), aligned, space));
        for (const double beta : {0.0, 2.0}) {
            std::vector<float> c(static_cast<std::size_t>(p.m * p.n), beta == 0 ? nan : 1.5f);
            std::get<ExecutablePlan>(made).run(
                {.a = a.data(), .b = b.data(), .c = c.data(), .workspace = aligned, .alpha = 0, .beta = beta}, nullptr);
            device->synchronize();
            CHECK(c == std::vector<float>(c.size(), beta == 0 ? 0.0f : 3.0f));
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
