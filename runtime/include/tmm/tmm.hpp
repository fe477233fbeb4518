// tmm.h, which documents layouts, units, errors and threads, for C++17: handles that destroy themselves, and statuses that throw. Whatever
// is not noexcept throws Exception where the function of tmm.h that it names fails. Header only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tmm/tmm.h"

namespace tmm {

// A call that failed. what() is tmmLastError's sentence.
class Exception : public std::runtime_error {
public:
    Exception(tmmStatus_t status, const std::string& what) : std::runtime_error(what), status_(status) {}
    tmmStatus_t status() const noexcept { return status_; }

private:
    tmmStatus_t status_;
};

// Throws Exception unless the status, of a call that this thread made last, is success.
inline void check(tmmStatus_t status) {
    if (status == TMM_STATUS_SUCCESS) return;
    const char* sentence = tmmLastError(nullptr);
    throw Exception(status, *sentence ? sentence : tmmStatusString(status));
}

// A tmmGemmProblem_t with its defaults: set sizes and leading dimensions.
inline tmmGemmProblem_t problem() {
    tmmGemmProblem_t result;
    check(tmmGemmProblemInit(&result));
    return result;
}

// A row-major f32 problem without padding: op(A) is m x k, op(B) is k x n.
inline tmmGemmProblem_t problem(std::int64_t m, std::int64_t n, std::int64_t k, tmmOperation_t op_a = TMM_NO_TRANS,
                                tmmOperation_t op_b = TMM_NO_TRANS) {
    tmmGemmProblem_t result = problem();
    result.op_a = op_a;
    result.op_b = op_b;
    result.m = m;
    result.n = n;
    result.k = k;
    const auto length = [](std::int64_t columns) { return columns > 0 ? columns : std::int64_t{1}; };
    result.lda = length(op_a == TMM_NO_TRANS ? k : m);
    result.ldb = length(op_b == TMM_NO_TRANS ? n : k);
    result.ldc = length(n);
    return result;
}

// The values of a call; alpha and beta point to host memory in the compute type, and must live until the call returns.
inline tmmGemmArgs_t args(const void* alpha, const void* a, const void* b, const void* beta, void* c) {
    tmmGemmArgs_t result{};
    result.struct_size = sizeof(tmmGemmArgs_t);
    result.alpha = alpha;
    result.beta = beta;
    result.a = a;
    result.b = b;
    result.c = c;
    return result;
}

namespace detail {

// What a describing function writes: tmmPlanDescribe's lines.
template <typename Write>
std::string description(const Write& write) {
    std::string text(4096, '\0');
    check(write(text.data(), text.size()));
    text.resize(text.find('\0'));
    return text;
}

}  // namespace detail

class Plan;

// A tmmHandle_t. Several threads may use one; a handle that was moved from may only be destroyed or assigned to.
class Handle {
public:
    // device: a CUDA ordinal or TMM_DEVICE_HOST; database: empty for the default one.
    explicit Handle(int device = 0, const std::string& database = {}) {
        tmmHandle_t made = nullptr;
        check(tmmCreate(&made, device, database.empty() ? nullptr : database.c_str()));
        handle_.reset(made);
    }

    // Loads a file of ready kernels: tmmLoadBundle.
    void load_bundle(const std::string& path) { check(tmmLoadBundle(get(), path.c_str())); }

    // May plans be measured while they are made? tmmSetTuning.
    void set_tuning(bool allowed) { check(tmmSetTuning(get(), allowed ? 1 : 0)); }

    // The stream of sgemm and gemm from now on: tmmSetStream.
    void set_stream(CUstream_st* stream) { check(tmmSetStream(get(), stream)); }

    // C = alpha * op(A) * op(B) + beta * C of floats in device memory, on the handle's stream: tmmSgemm.
    void sgemm(tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
               const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
        check(tmmSgemm(get(), layout, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));
    }
    // The same in host memory, done when the call returns: tmmHostSgemm.
    void host_sgemm(tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                    float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                    std::int64_t ldc) {
        check(tmmHostSgemm(get(), layout, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));
    }
    // Both for doubles: tmmDgemm and tmmHostDgemm.
    void dgemm(tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
               const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc) {
        check(tmmDgemm(get(), layout, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));
    }
    void host_dgemm(tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                    double alpha, const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c,
                    std::int64_t ldc) {
        check(tmmHostDgemm(get(), layout, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));
    }
    // Any problem, on the handle's stream; the first call makes its plan: tmmGemm.
    void gemm(const tmmGemmProblem_t& problem, const tmmGemmArgs_t& args) { check(tmmGemm(get(), &problem, &args)); }
    // The same on that stream, whatever the handle's is: tmmGemmOnStream.
    void gemm(const tmmGemmProblem_t& problem, const tmmGemmArgs_t& args, CUstream_st* stream) {
        check(tmmGemmOnStream(get(), stream, &problem, &args));
    }
    // One product in host memory, done when the call returns: tmmHostGemm.
    void host_gemm(const tmmGemmProblem_t& problem, const tmmGemmArgs_t& args) { check(tmmHostGemm(get(), &problem, &args)); }

    // Waits until all work is done that was queued on the stream: tmmSynchronize.
    void synchronize(CUstream_st* stream = nullptr) const { check(tmmSynchronize(get(), stream)); }

    // May compile, which takes seconds, and allocate: tmmPlanCreate.
    inline Plan plan(const tmmGemmProblem_t& problem);
    // One that several threads and streams may run at once, each run with a workspace and with pointers as aligned as the problem says:
    // tmmPlanCreateBare.
    inline Plan bare_plan(const tmmGemmProblem_t& problem);

    // What a plan of the problem would say of itself. Nothing is compiled: tmmProblemDescribe.
    std::string describe(const tmmGemmProblem_t& problem) const {
        return detail::description([&](char* text, std::size_t size) { return tmmProblemDescribe(get(), &problem, text, size); });
    }

    // For a program that lets tmm race another library: tmmSetCompileTool, tmmProblemCandidates, tmmPlanCreateOf, tmmRemember.
    void set_compile_tool(const std::string& program) { check(tmmSetCompileTool(get(), program.c_str())); }
    std::string candidates(const tmmGemmProblem_t& problem, int count) const {
        return detail::description([&](char* text, std::size_t size) { return tmmProblemCandidates(get(), &problem, count, text, size); });
    }
    inline Plan plan_of(const tmmGemmProblem_t& problem, const std::string& config);
    void remember(const tmmGemmProblem_t& problem, const std::string& config, double us, double library_us) {
        check(tmmRemember(get(), &problem, config.c_str(), us, library_us));
    }

    // For functions of tmm.h; this object still destroys it.
    tmmHandle_t get() const noexcept { return handle_.get(); }

private:
    struct Destroy {
        void operator()(tmmHandle_t handle) const noexcept { tmmDestroy(handle); }
    };
    std::unique_ptr<std::remove_pointer_t<tmmHandle_t>, Destroy> handle_;
};

// A tmmPlan_t. One thread and one stream may use it at a time, unless each run brings its own workspace. It may outlive its handle.
class Plan {
public:
    Plan(const Handle& handle, const tmmGemmProblem_t& problem) : Plan(tmmPlanCreate, handle, problem) {}
    // Handle::bare_plan.
    static Plan bare(const Handle& handle, const tmmGemmProblem_t& problem) { return Plan(tmmPlanCreateBare, handle, problem); }

    // Handle::plan_of.
    static Plan of(const Handle& handle, const tmmGemmProblem_t& problem, const std::string& config) {
        const auto create = [&](tmmHandle_t from, const tmmGemmProblem_t* of, tmmPlan_t* made) {
            return tmmPlanCreateOf(from, of, config.c_str(), made);
        };
        return Plan(create, handle, problem);
    }

    // Queues a run on the stream, and only launches; null is the default stream, not the handle's: tmmPlanRun.
    void run(const tmmGemmArgs_t& args, CUstream_st* stream = nullptr) const { check(tmmPlanRun(get(), stream, &args)); }

    // Bytes of the workspace that a run may bring: tmmPlanWorkspaceSize.
    std::size_t workspace_size() const {
        std::size_t bytes = 0;
        check(tmmPlanWorkspaceSize(get(), &bytes));
        return bytes;
    }

    // Bytes of an operand that is rewritten once for many runs; 0: the plan rewrites none. See tmmPlanPrepare.
    std::size_t prepared_size(tmmOperand_t operand) const {
        std::size_t bytes = 0;
        check(tmmPlanPreparedSize(get(), operand, &bytes));
        return bytes;
    }
    // Rewrites it into the caller's memory, a multiple of TMM_WORKSPACE_ALIGNMENT of prepared_size bytes: tmmPlanPrepare.
    void prepare(tmmOperand_t operand, const void* matrix, void* prepared, std::size_t size, CUstream_st* stream = nullptr) const {
        check(tmmPlanPrepare(get(), stream, operand, matrix, prepared, size));
    }

    // What was chosen and why: tmmPlanDescribe's lines.
    std::string describe() const {
        return detail::description([this](char* text, std::size_t size) { return tmmPlanDescribe(get(), text, size); });
    }

    // For functions of tmm.h; this object still destroys it.
    tmmPlan_t get() const noexcept { return plan_.get(); }

private:
    template <class Create>
    Plan(const Create& create, const Handle& handle, const tmmGemmProblem_t& problem) {
        tmmPlan_t made = nullptr;
        check(create(handle.get(), &problem, &made));
        plan_.reset(made);
    }

    struct Destroy {
        void operator()(tmmPlan_t plan) const noexcept { tmmPlanDestroy(plan); }
    };
    std::unique_ptr<std::remove_pointer_t<tmmPlan_t>, Destroy> plan_;
};

inline Plan Handle::plan(const tmmGemmProblem_t& problem) {
    return Plan(*this, problem);
}
inline Plan Handle::bare_plan(const tmmGemmProblem_t& problem) {
    return Plan::bare(*this, problem);
}
inline Plan Handle::plan_of(const tmmGemmProblem_t& problem, const std::string& config) {
    return Plan::of(*this, problem, config);
}

}  // namespace tmm
