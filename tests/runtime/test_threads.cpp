// Runs many threads in the library at once, on the emulated device. Results are right in every build; under ThreadSanitizer (cmake --preset
// tsan) every access that is not ordered shows, too.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/text/side_by_side.h"
#include "generator/compile/kernel_cache.h"
#include "generator/kernel/kernel_source.h"
#include "tests/support/temporary_directory.h"
#include "tmm/tmm.h"
#include "tuner/compiling/candidate_compiler.h"

using namespace tmm;
using tmm::testing::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

constexpr int kThreads = 6;
constexpr std::int64_t kK = 20;

// Runs it in several threads that begin together.
void in_threads(const std::function<void(int thread)>& work) {
    std::atomic<int> waiting = kThreads;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            --waiting;
            while (waiting > 0) std::this_thread::yield();
            work(t);
        });
    for (std::thread& thread : threads) thread.join();
}

// Ones times ones: every element of C is k, times alpha.
struct Product {
    std::int64_t m = 0;
    std::int64_t n = 0;
    float alpha = 1;
    float beta = 0;
    std::vector<float> a = std::vector<float>(static_cast<std::size_t>(m * kK), 1.0f);
    std::vector<float> b = std::vector<float>(static_cast<std::size_t>(n * kK), 1.0f);
    std::vector<float> c = std::vector<float>(static_cast<std::size_t>(m * n), -1.0f);

    bool is_right() const { return c == std::vector<float>(c.size(), alpha * static_cast<float>(kK)); }
    tmmGemmProblem_t problem() const {
        tmmGemmProblem_t p;
        p.struct_size = sizeof p;
        tmmGemmProblemInit(&p);
        p.m = m, p.n = n, p.k = kK;
        p.lda = kK, p.ldb = n, p.ldc = n;
        return p;
    }
    tmmGemmArgs_t args() {
        tmmGemmArgs_t args{};
        args.struct_size = sizeof args;
        args.alpha = &alpha, args.beta = &beta;
        args.a = a.data(), args.b = b.data(), args.c = c.data();
        return args;
    }
    bool by_sgemm(tmmHandle_t handle) {
        return tmmSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, m, n, kK, &alpha, a.data(), kK, b.data(), n, &beta, c.data(),
                        n) == TMM_STATUS_SUCCESS &&
               is_right();
    }
    bool by_host_sgemm(tmmHandle_t handle) {
        return tmmHostSgemm(handle, TMM_COL_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, m, n, kK, &alpha, a.data(), m, b.data(), kK, &beta, c.data(),
                            m) == TMM_STATUS_SUCCESS &&
               is_right();
    }
    bool by_gemm(tmmHandle_t handle) {
        const tmmGemmProblem_t p = problem();
        const tmmGemmArgs_t with = args();
        return tmmGemm(handle, &p, &with) == TMM_STATUS_SUCCESS && is_right();
    }
    bool by_plan(tmmHandle_t handle) {
        const tmmGemmProblem_t p = problem();
        const tmmGemmArgs_t with = args();
        tmmPlan_t plan = nullptr;
        if (tmmPlanCreate(handle, &p, &plan) != TMM_STATUS_SUCCESS) return false;
        char text[400];
        std::size_t bytes = 0;
        const bool ran = tmmPlanRun(plan, nullptr, &with) == TMM_STATUS_SUCCESS &&
                         tmmPlanDescribe(plan, text, sizeof text) == TMM_STATUS_SUCCESS &&
                         tmmPlanWorkspaceSize(plan, &bytes) == TMM_STATUS_SUCCESS;
        return tmmPlanDestroy(plan) == TMM_STATUS_SUCCESS && ran && is_right();
    }
    bool by_any_way(tmmHandle_t handle, int way) {
        switch (way % 4) {
            case 0: return by_sgemm(handle);
            case 1: return by_host_sgemm(handle);
            case 2: return by_gemm(handle);
            default: return by_plan(handle);
        }
    }
};

// A cache that nobody has filled, so that threads meet where kernels are compiled, too.
class ColdCache {
public:
    ColdCache() { setenv("TMM_CACHE_DIR", (folder_.path() / "cache").c_str(), 1); }
    ~ColdCache() { unsetenv("TMM_CACHE_DIR"); }
    ColdCache(const ColdCache&) = delete;
    ColdCache& operator=(const ColdCache&) = delete;
    std::string database() const { return (folder_.path() / "none.db").string(); }

private:
    TemporaryDirectory folder_;
};

struct Quiet {
    Quiet() {
        tmmSetLogCallback([](const char*, void*) {}, nullptr);
    }
    ~Quiet() { tmmSetLogCallback(nullptr, nullptr); }
};

}  // namespace

TEST_CASE("threads that share a handle, each by every call that multiplies") {
    const ColdCache cache;
    const Quiet quiet;
    tmmHandle_t handle = nullptr;
    REQUIRE(tmmCreate(&handle, TMM_DEVICE_HOST, cache.database().c_str()) == TMM_STATUS_SUCCESS);
    std::atomic<int> wrong = 0;
    in_threads([&](int thread) {
        for (int round = 0; round < 8; ++round) {
            Product product{.m = 1 + 15 * (round % 3), .n = 8 + 8 * (round % 2), .alpha = static_cast<float>(1 + thread)};
            if (!product.by_any_way(handle, round + thread)) ++wrong;
        }
    });
    CHECK(wrong == 0);
    CHECK(tmmDestroy(handle) == TMM_STATUS_SUCCESS);
}

TEST_CASE("threads with a handle each, made and given back all the time, while another changes where the log goes") {
    const ColdCache cache;
    const Quiet quiet;
    std::atomic<int> wrong = 0, lines = 0;
    in_threads([&](int thread) {
        if (thread == 0) {
            for (int i = 0; i < 200; ++i)
                tmmSetLogCallback([](const char*, void* user) { ++*static_cast<std::atomic<int>*>(user); }, &lines);
            return;
        }
        for (int round = 0; round < 4; ++round) {
            tmmHandle_t handle = nullptr;
            // It logs that there is no database.
            if (tmmCreate(&handle, TMM_DEVICE_HOST, cache.database().c_str()) != TMM_STATUS_SUCCESS) ++wrong;
            Product product{.m = 16, .n = 16};
            if (!product.by_any_way(handle, round)) ++wrong;
            if (tmmDestroy(handle) != TMM_STATUS_SUCCESS) ++wrong;
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("a plan that threads run by turns, and errors of each thread's own") {
    const ColdCache cache;
    const Quiet quiet;
    tmmHandle_t handle = nullptr;
    REQUIRE(tmmCreate(&handle, TMM_DEVICE_HOST, cache.database().c_str()) == TMM_STATUS_SUCCESS);
    std::atomic<int> wrong = 0;
    in_threads([&](int thread) {
        for (int round = 0; round < 20; ++round) {
            const std::string before = tmmLastError(handle);
            float one = 1;
            const auto status =
                tmmSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, -1 - thread, 1, 1, &one, &one, 1, &one, 1, &one, &one, 1);
            if (status == TMM_STATUS_SUCCESS || std::string(tmmLastError(handle)).find(std::to_string(-1 - thread)) == std::string::npos)
                ++wrong;
            if (round > 0 && before != tmmLastError(handle)) ++wrong;
        }
    });
    CHECK(wrong == 0);
    Product product{.m = 16, .n = 16};
    const tmmGemmProblem_t problem = product.problem();
    tmmPlan_t plan = nullptr;
    REQUIRE(tmmPlanCreate(handle, &problem, &plan) == TMM_STATUS_SUCCESS);
    // The plan outlives its handle, and moves from thread to thread.
    CHECK(tmmDestroy(handle) == TMM_STATUS_SUCCESS);
    for (int round = 0; round < 3; ++round) {
        std::thread([&] {
            const tmmGemmArgs_t args = product.args();
            if (tmmPlanRun(plan, nullptr, &args) != TMM_STATUS_SUCCESS || !product.is_right()) ++wrong;
        }).join();
    }
    CHECK(wrong == 0);
    CHECK(tmmPlanDestroy(plan) == TMM_STATUS_SUCCESS);
}

TEST_CASE("the tuner's compiling threads: asked, reordered, dropped and abandoned from several threads") {
    struct TextCompiler : Compiler {
        CompileResult compile(const KernelSource& source) const override {
            if (source.text.ends_with("7;")) return CompileFailure{"an error"};
            return CompiledKernel{.image = std::vector<std::byte>(100), .registers = 1, .spill_bytes = 0, .log = {}};
        }
        std::string identity() const override { return "text"; }
    };
    const TemporaryDirectory folder;
    CandidateCompiler compiler(std::make_shared<const TextCompiler>(), KernelCache(folder.path() / "cache"), 4);
    in_threads([&](int thread) {
        for (int i = 0; i < 40; ++i) {
            const std::string name = "kernel" + std::to_string((i + thread) % 50);
            const KernelSource source{.name = name, .text = name + ";", .entries = {}};
            compiler.request(source, (i + thread) % 3, i);
            if (i % 10 == 9) compiler.drop(2);
            (void)compiler.result(identity_of(source));
            (void)compiler.wait_for_more(i, 0.001);
        }
        if (thread == 0) compiler.abandon();
    });
}

TEST_CASE("jobs side by side: all run, and what the first throws arrives") {
    std::atomic<int> done = 0;
    run_side_by_side(5, [&] { ++done; });
    CHECK(done == 5);
    run_side_by_side(0, [&] { ++done; });
    CHECK(done == 5);
    std::vector<std::function<void()>> jobs(4, [&] { ++done; });
    jobs[2] = [] { throw std::runtime_error("the third"); };
    CHECK_THROWS_WITH(run_side_by_side(jobs), "the third");
    CHECK(done == 8);
}
