// The C interface: arguments pass through the checks of validate.h, and exceptions become statuses. It has no logic of its own.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/text/environment.h"
#include "generator/problem/matrix_layout.h"
#include "generator/text/text.h"
#include "runtime/api/call.h"
#include "runtime/api/handle.h"
#include "runtime/api/host_gemm.h"
#include "runtime/api/validate.h"
#include "runtime/bundle/bundle.h"
#include "runtime/device/thread_local_value.h"
#include "tmm/tmm.h"

#ifdef TMM_PROJECT_VERSION
static_assert(TMM_PROJECT_VERSION == TMM_VERSION, "tmm.h and CMakeLists.txt name different versions");
#endif

// The runtime belongs to the process that has made it.
struct tmmHandle_s {
    std::shared_ptr<tmm::RuntimeHandle> runtime;
    std::uint64_t id = 0;
    unsigned process = tmm::process_number();
};

// The plan shares what stands behind its handle, so that they may be destroyed in either order.
struct tmmPlan_s {
    std::shared_ptr<tmm::RuntimeHandle> runtime;
    std::uint64_t handle_id = 0;
    tmm::CheckedProblem problem;
    tmm::OwnedPlan owned;
    // Made by tmmPlanCreateBare.
    bool is_bare = false;
    // A graph has captured the kernels of its expression.
    std::atomic<bool> is_recorded = false;
    unsigned process = tmm::process_number();
};

namespace {

// Addresses are used again; an old message must not seem to be a new handle's.
std::uint64_t next_handle_id() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

struct Failure {
    // The id is 0 where the call had no handle.
    std::uint64_t handle = 0;
    std::string message;
};

Failure& last_failure() {
    return tmm::thread_local_value<Failure>();
}

tmmStatus_t fail(std::uint64_t handle, tmmStatus_t status, const char* message) noexcept {
    try {
        last_failure() = {.handle = handle, .message = message};
    } catch (...) {
        // There is too little memory even for the sentence; the status tells.
    }
    return status;
}

tmmStatus_t status_of(tmm::BundleFault fault) {
    switch (fault) {
        case tmm::BundleFault::unreadable: return TMM_STATUS_UNREADABLE_BUNDLE;
        case tmm::BundleFault::invalid: return TMM_STATUS_INVALID_BUNDLE;
        case tmm::BundleFault::other_version: return TMM_STATUS_BUNDLE_VERSION;
        case tmm::BundleFault::other_device: return TMM_STATUS_BUNDLE_DEVICE;
    }
    return TMM_STATUS_INTERNAL;
}

// Only who opens a device may find that there is none; to all else it is one that failed.
tmmStatus_t status_of(const tmm::Error& error) {
    switch (error.status()) {
        case tmm::ExitStatus::no_device: return TMM_STATUS_DEVICE;
        case tmm::ExitStatus::no_compiler: return TMM_STATUS_COMPILER;
        default: return TMM_STATUS_INTERNAL;
    }
}

// CUDA works in no forked child; what is on the host serves it as it would have served its parent.
bool is_of_process(const tmm::RuntimeHandle& runtime, unsigned process) {
    return process == tmm::process_number() || runtime.device()->info().emulated;
}
bool is_of_process(const tmmHandle_s& handle) {
    return is_of_process(*handle.runtime, handle.process);
}
bool is_of_process(const tmmPlan_s& plan) {
    return is_of_process(*plan.runtime, plan.process);
}
std::uint64_t id_of(const tmmHandle_s& handle) {
    return handle.id;
}
std::uint64_t id_of(const tmmPlan_s& plan) {
    return plan.handle_id;
}

// Runs the body; what it throws becomes a status.
template <typename Body>
[[gnu::noinline]] tmmStatus_t status_of(std::uint64_t handle, const Body& body) noexcept {
    if (tmm::is_process_torn())
        return fail(handle, TMM_STATUS_DEVICE,
                    "the process was forked while another thread was in a call of tmm: fork when there is none, or let the child exec");
    try {
        body();
        return TMM_STATUS_SUCCESS;
    } catch (const tmm::StatusError& error) {
        return fail(handle, error.status(), error.what());
    } catch (const tmm::BundleError& error) {
        return fail(handle, status_of(error.fault()), error.what());
    } catch (const tmm::Error& error) {
        return fail(handle, status_of(error), error.what());
    } catch (const tmm::DeviceFault& error) {
        return fail(handle, TMM_STATUS_DEVICE, error.what());
    } catch (const tmm::LaunchRefused& error) {
        return fail(handle, TMM_STATUS_DEVICE, error.what());
    } catch (const std::bad_alloc&) {
        return fail(handle, TMM_STATUS_OUT_OF_MEMORY, "there is too little memory, on the device or on the host");
    } catch (const std::exception& error) {
        return fail(handle, TMM_STATUS_INTERNAL, error.what());
    } catch (...) {
        return fail(handle, TMM_STATUS_INTERNAL, "an unknown exception");
    }
}

template <typename Body>
tmmStatus_t guarded(std::uint64_t handle, const Body& body) {
    const tmm::CallState state = tmm::begin_call();
    const tmmStatus_t status = status_of(handle, body);
    tmm::end_call(state);
    return status;
}

template <typename Object, typename Body>
tmmStatus_t guarded(const Object& object, const Body& body) {
    if (!is_of_process(object))
        return fail(id_of(object), TMM_STATUS_DEVICE,
                    "the process was forked after this was made, and CUDA does not work in the child: let the child exec, or fork before "
                    "CUDA is used");
    return guarded(id_of(object), body);
}

// What a child can't use it can't free either.
template <typename Object>
tmmStatus_t destroy(Object* object) {
    if (!object || !is_of_process(*object) || tmm::is_process_torn()) return TMM_STATUS_SUCCESS;
    return guarded(std::uint64_t{0}, [&] { delete object; });
}

tmmStatus_t null_argument(std::uint64_t handle, const char* message) noexcept {
    return fail(handle, TMM_STATUS_NULL_POINTER, message);
}
tmmStatus_t no_handle() noexcept {
    return fail(0, TMM_STATUS_INVALID_HANDLE, "handle is null; tmmCreate makes one");
}
tmmStatus_t no_plan() noexcept {
    return fail(0, TMM_STATUS_INVALID_PLAN, "plan is null; tmmPlanCreate makes one");
}

void fill_defaults(tmmGemmProblem_t& problem) {
    problem = {};
    problem.struct_size = sizeof(tmmGemmProblem_t);
    problem.layout = TMM_ROW_MAJOR;
    problem.op_a = TMM_NO_TRANS;
    problem.op_b = TMM_NO_TRANS;
    problem.batch = 1;
    problem.alignment = 16;
    problem.max_workspace = SIZE_MAX;
    // Read once: products of which each takes a microsecond come by here.
    static const int invariant = tmm::invariant_by_default() ? 1 : 0;
    problem.invariant = invariant;
}

// Copies as much of the text as there is room for, and a zero.
void copy_text(const std::string& from, char* text, size_t size) {
    const std::size_t length = std::min(from.size(), size - 1);
    std::memcpy(text, from.data(), length);
    text[length] = '\0';
}

// A bare plan has nothing to fall back on.
void check_bare_run(const tmmPlan_s& plan, const tmm::CheckedArgs& values) {
    if (!plan.owned.plan.finds_promise_kept(values.call))
        throw tmm::StatusError(TMM_STATUS_MISALIGNED_POINTER,
                               "a, b, c or the residual is less aligned than the problem of this bare plan promised");
    if (!values.call.workspace) tmm::check_workspace_size(0, plan.owned.plan.workspace_bytes());
}

// make: gives the plan of a request, with the workspace that it runs in.
template <typename Make>
tmmStatus_t create_plan(tmmHandle_t handle, const tmmGemmProblem_t* problem, tmmPlan_t* plan, bool is_bare, const Make& make) {
    if (plan) *plan = nullptr;
    if (!handle) return no_handle();
    if (!plan) return null_argument(handle->id, "plan is null: there is no place for the new plan");
    return guarded(*handle, [&] {
        const tmm::CheckedProblem checked = tmm::check_problem(problem);
        *plan = new tmmPlan_s{
            .runtime = handle->runtime, .handle_id = handle->id, .problem = checked, .owned = make(checked.request), .is_bare = is_bare};
    });
}

tmm::KernelConfig config_of(const char* text) {
    if (!text) throw tmm::StatusError(TMM_STATUS_NULL_POINTER, "config is null");
    try {
        return tmm::parse_config(text);
    } catch (const tmm::Error& error) {
        throw tmm::StatusError(TMM_STATUS_INVALID_CONFIG, error.what());
    }
}

std::shared_ptr<tmm::RuntimeHandle> open_handle(int device, const std::filesystem::path& database) {
    try {
        return std::make_shared<tmm::RuntimeHandle>(device, database, tmm::bundle_path());
    } catch (const tmm::Error& error) {
        if (error.status() != tmm::ExitStatus::no_device) throw;
        throw tmm::StatusError(TMM_STATUS_NO_DEVICE, error.what());
    }
}

struct CheckedCall {
    tmm::CheckedProblem problem;
    tmm::CheckedArgs args;
};

template <class Real>
CheckedCall check_matrices(tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n, int64_t k, const Real* alpha,
                           const Real* a, int64_t lda, const Real* b, int64_t ldb, const Real* beta, Real* c, int64_t ldc) {
    tmmGemmProblem_t problem;
    fill_defaults(problem);
    problem.layout = layout;
    problem.op_a = op_a;
    problem.op_b = op_b;
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problem.lda = lda;
    problem.ldb = ldb;
    problem.ldc = ldc;
    if (std::is_same_v<Real, double>) {
        problem.type_a = problem.type_b = problem.type_c = TMM_F64;
        problem.compute = TMM_COMPUTE_F64;
    }
    problem.reads_c = !beta || *beta != 0 ? 1 : 0;
    tmmGemmArgs_t args{};
    args.struct_size = sizeof args;
    args.alpha = alpha;
    args.beta = beta;
    args.a = a;
    args.b = b;
    args.c = c;
    const tmm::CheckedProblem checked = tmm::check_problem(&problem);
    return {.problem = checked, .args = tmm::check_args(checked, &args)};
}

// Real: float, or double, which multiplies in TMM_COMPUTE_F64.
template <class Real>
tmmStatus_t multiply(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n, int64_t k,
                     const Real* alpha, const Real* a, int64_t lda, const Real* b, int64_t ldb, const Real* beta, Real* c, int64_t ldc) {
    if (!handle) return no_handle();
    return guarded(*handle, [&] {
        const CheckedCall call = check_matrices(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        tmm::check_overlap(call.problem, call.args);
        handle->runtime->gemm(call.problem.request, call.args.call, 0, handle->runtime->stream());
    });
}

template <class Real>
tmmStatus_t multiply_on_host(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n,
                             int64_t k, const Real* alpha, const Real* a, int64_t lda, const Real* b, int64_t ldb, const Real* beta,
                             Real* c, int64_t ldc) {
    if (!handle) return no_handle();
    return guarded(*handle, [&] {
        const CheckedCall call = check_matrices(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        if (!tmm::is_empty(call.problem.request.problem)) tmm::host_gemm(*handle->runtime, call.problem.request, call.args.call);
    });
}

}  // namespace

extern "C" {

tmmStatus_t tmmCreate(tmmHandle_t* handle, int device, const char* database_path) {
    if (!handle) return null_argument(0, "handle is null: there is no place for the new handle");
    *handle = nullptr;
    return guarded(std::uint64_t{0}, [&] {
        const std::filesystem::path database = database_path ? std::filesystem::path(database_path) : tmm::default_database_path();
        auto made = std::make_unique<tmmHandle_s>();
        made->runtime = open_handle(device, database);
        made->id = next_handle_id();
        *handle = made.release();
    });
}

tmmStatus_t tmmDestroy(tmmHandle_t handle) {
    return destroy(handle);
}

tmmStatus_t tmmLoadBundle(tmmHandle_t handle, const char* path) {
    if (!handle) return no_handle();
    if (!path) return null_argument(handle->id, "path is null: name the file of a bundle");
    return guarded(*handle, [&] { handle->runtime->load_bundle(path); });
}

tmmStatus_t tmmSetTuning(tmmHandle_t handle, int allowed) {
    if (!handle) return no_handle();
    handle->runtime->allow_races(allowed != 0);
    return TMM_STATUS_SUCCESS;
}

tmmStatus_t tmmSetStream(tmmHandle_t handle, struct CUstream_st* stream) {
    if (!handle) return no_handle();
    handle->runtime->set_stream(stream);
    return TMM_STATUS_SUCCESS;
}

tmmStatus_t tmmSgemm(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n, int64_t k,
                     const float* alpha, const float* a, int64_t lda, const float* b, int64_t ldb, const float* beta, float* c,
                     int64_t ldc) {
    return multiply(handle, layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

tmmStatus_t tmmHostSgemm(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n, int64_t k,
                         const float* alpha, const float* a, int64_t lda, const float* b, int64_t ldb, const float* beta, float* c,
                         int64_t ldc) {
    return multiply_on_host(handle, layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

tmmStatus_t tmmDgemm(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n, int64_t k,
                     const double* alpha, const double* a, int64_t lda, const double* b, int64_t ldb, const double* beta, double* c,
                     int64_t ldc) {
    return multiply(handle, layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

tmmStatus_t tmmHostDgemm(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n, int64_t k,
                         const double* alpha, const double* a, int64_t lda, const double* b, int64_t ldb, const double* beta, double* c,
                         int64_t ldc) {
    return multiply_on_host(handle, layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

tmmStatus_t tmmGemm(tmmHandle_t handle, const tmmGemmProblem_t* problem, const tmmGemmArgs_t* args) {
    if (!handle) return no_handle();
    return tmmGemmOnStream(handle, static_cast<CUstream_st*>(handle->runtime->stream()), problem, args);
}

tmmStatus_t tmmGemmOnStream(tmmHandle_t handle, struct CUstream_st* stream, const tmmGemmProblem_t* problem, const tmmGemmArgs_t* args) {
    if (!handle) return no_handle();
    return guarded(*handle, [&] {
        const tmm::CheckedProblem checked = tmm::check_problem(problem);
        const tmm::CheckedArgs values = tmm::check_args(checked, args);
        tmm::check_overlap(checked, values);
        handle->runtime->gemm(checked.request, values.call, values.workspace_size, stream);
    });
}

tmmStatus_t tmmHostGemm(tmmHandle_t handle, const tmmGemmProblem_t* problem, const tmmGemmArgs_t* args) {
    if (!handle) return no_handle();
    return guarded(*handle, [&] {
        const tmm::CheckedProblem checked = tmm::check_problem(problem);
        tmm::check_host_problem(checked);
        const tmm::CheckedArgs values = tmm::check_args(checked, args);
        if (!tmm::is_empty(checked.request.problem)) tmm::host_gemm(*handle->runtime, checked.request, values.call);
    });
}

tmmStatus_t tmmSynchronize(tmmHandle_t handle, struct CUstream_st* stream) {
    if (!handle) return no_handle();
    return guarded(*handle, [&] { handle->runtime->device()->synchronize(stream); });
}

tmmStatus_t tmmGemmProblemInit(tmmGemmProblem_t* problem) {
    if (!problem) return null_argument(0, "problem is null");
    fill_defaults(*problem);
    return TMM_STATUS_SUCCESS;
}

tmmStatus_t tmmPlanCreate(tmmHandle_t handle, const tmmGemmProblem_t* problem, tmmPlan_t* plan) {
    return create_plan(handle, problem, plan, false, [&](const tmm::PlanRequest& request) { return handle->runtime->make_plan(request); });
}

tmmStatus_t tmmPlanCreateBare(tmmHandle_t handle, const tmmGemmProblem_t* problem, tmmPlan_t* plan) {
    return create_plan(handle, problem, plan, true, [&](const tmm::PlanRequest& request) {
        return tmm::OwnedPlan{.plan = handle->runtime->make_bare_plan(request), .workspace = {}};
    });
}

tmmStatus_t tmmPlanWorkspaceSize(tmmPlan_t plan, size_t* bytes) {
    if (!plan) return no_plan();
    if (!bytes) return null_argument(plan->handle_id, "bytes is null");
    *bytes = plan->owned.plan.workspace_bytes();
    return TMM_STATUS_SUCCESS;
}

tmmStatus_t tmmPlanRun(tmmPlan_t plan, struct CUstream_st* stream, const tmmGemmArgs_t* args) {
    if (!plan) return no_plan();
    return guarded(*plan, [&] {
        tmm::CheckedArgs values = tmm::check_args(plan->problem, args);
        if (tmm::is_empty(plan->problem.request.problem)) return;
        tmm::check_overlap(plan->problem, values);
        if (plan->is_bare) check_bare_run(*plan, values);
        if (values.call.workspace) {
            tmm::check_workspace_size(values.workspace_size, plan->owned.plan.workspace_bytes());
        } else {
            values.call.workspace = plan->owned.workspace.data();
        }
        if (plan->problem.request.problem.epilogue == tmm::Epilogue::custom && plan->runtime->device()->is_recorded(stream) &&
            !plan->is_recorded.exchange(true))
            plan->runtime->keep_recorded(std::make_shared<const tmm::RuntimePlan>(plan->owned.plan));
        plan->owned.plan.run(values.call, stream);
    });
}

tmmStatus_t tmmPlanPreparedSize(tmmPlan_t plan, tmmOperand_t operand, size_t* bytes) {
    if (!plan) return no_plan();
    if (!bytes) return null_argument(plan->handle_id, "bytes is null");
    return guarded(*plan, [&] { *bytes = plan->owned.plan.prepared_bytes(tmm::check_operand(plan->problem, operand)); });
}

tmmStatus_t tmmPlanPrepare(tmmPlan_t plan, struct CUstream_st* stream, tmmOperand_t operand, const void* matrix, void* prepared,
                           size_t prepared_size) {
    if (!plan) return no_plan();
    return guarded(*plan, [&] {
        const tmm::Preparation preparation = tmm::check_preparation(plan->problem, operand, matrix, prepared);
        const std::size_t needed = plan->owned.plan.prepared_bytes(preparation.operand);
        if (needed == 0) return;
        tmm::check_prepared_size(prepared, prepared_size, needed);
        plan->owned.plan.prepare(preparation, stream);
    });
}

tmmStatus_t tmmPlanDescribe(tmmPlan_t plan, char* text, size_t size) {
    if (!plan) return no_plan();
    if (!text || size == 0) return null_argument(plan->handle_id, "text is null or has no room for its terminating zero");
    return guarded(*plan, [&] { copy_text(plan->owned.plan.describe(), text, size); });
}

tmmStatus_t tmmProblemDescribe(tmmHandle_t handle, const tmmGemmProblem_t* problem, char* text, size_t size) {
    if (!handle) return no_handle();
    if (!text || size == 0) return null_argument(handle->id, "text is null or has no room for its terminating zero");
    return guarded(*handle, [&] {
        const tmm::CheckedProblem checked = tmm::check_problem(problem);
        copy_text(handle->runtime->describe(checked.request), text, size);
    });
}

tmmStatus_t tmmSetCompileTool(tmmHandle_t handle, const char* program) {
    if (!handle) return no_handle();
    return guarded(*handle, [&] { handle->runtime->use_compile_tool(program ? program : ""); });
}

tmmStatus_t tmmProblemCandidates(tmmHandle_t handle, const tmmGemmProblem_t* problem, int count, char* text, size_t size) {
    if (!handle) return no_handle();
    if (!text || size == 0) return null_argument(handle->id, "text is null or has no room for its terminating zero");
    return guarded(*handle, [&] {
        const tmm::CheckedProblem checked = tmm::check_problem(problem);
        std::string lines;
        for (const tmm::KernelConfig& config : handle->runtime->candidates(checked.request, static_cast<std::size_t>(std::max(count, 1))))
            lines += tmm::to_text(config) + '\n';
        copy_text(lines, text, size);
    });
}

tmmStatus_t tmmPlanCreateOf(tmmHandle_t handle, const tmmGemmProblem_t* problem, const char* config, tmmPlan_t* plan) {
    return create_plan(handle, problem, plan, true, [&](const tmm::PlanRequest& request) {
        return tmm::OwnedPlan{.plan = handle->runtime->make_plan_of(request, config_of(config)), .workspace = {}};
    });
}

tmmStatus_t tmmRemember(tmmHandle_t handle, const tmmGemmProblem_t* problem, const char* config, double us, double library_us) {
    if (!handle) return no_handle();
    return guarded(*handle, [&] {
        const tmm::CheckedProblem checked = tmm::check_problem(problem);
        handle->runtime->remember(checked.request.problem, config_of(config), us, library_us);
    });
}

tmmStatus_t tmmPlanDestroy(tmmPlan_t plan) {
    return destroy(plan);
}

const char* tmmLastError(tmmHandle_t handle) {
    try {
        const Failure& failure = last_failure();
        return !handle || failure.handle == handle->id ? failure.message.c_str() : "";
    } catch (...) {
        // There is too little memory for the thread's first failure, so it has none yet.
        return "";
    }
}

void tmmSetLogCallback(tmmLogCallback_t callback, void* user) {
    (void)guarded(std::uint64_t{0}, [&] {
        if (callback) {
            tmm::set_log_sink([callback, user](const std::string& line) { callback(line.c_str(), user); });
        } else {
            tmm::set_log_sink({});
        }
    });
}

int tmmGetVersion(void) {
    return TMM_VERSION;
}

const char* tmmStatusString(tmmStatus_t status) {
    switch (status) {
        case TMM_STATUS_SUCCESS: return "success";
        case TMM_STATUS_INVALID_HANDLE: return "invalid handle";
        case TMM_STATUS_INVALID_PLAN: return "invalid plan";
        case TMM_STATUS_INVALID_STRUCT_SIZE: return "unknown struct_size";
        case TMM_STATUS_INVALID_LAYOUT: return "invalid layout";
        case TMM_STATUS_INVALID_OPERATION: return "invalid operation";
        case TMM_STATUS_INVALID_TYPE: return "invalid element type";
        case TMM_STATUS_INVALID_COMPUTE: return "invalid compute mode";
        case TMM_STATUS_INVALID_EPILOGUE: return "invalid epilogue";
        case TMM_STATUS_INVALID_M: return "invalid m";
        case TMM_STATUS_INVALID_N: return "invalid n";
        case TMM_STATUS_INVALID_K: return "invalid k";
        case TMM_STATUS_INVALID_BATCH: return "invalid batch";
        case TMM_STATUS_INVALID_LDA: return "invalid lda";
        case TMM_STATUS_INVALID_LDB: return "invalid ldb";
        case TMM_STATUS_INVALID_LDC: return "invalid ldc";
        case TMM_STATUS_INVALID_STRIDE: return "invalid stride";
        case TMM_STATUS_INVALID_ALIGNMENT: return "alignment is no power of two";
        case TMM_STATUS_TOO_LARGE: return "matrix too large";
        case TMM_STATUS_NULL_A: return "a is null";
        case TMM_STATUS_NULL_B: return "b is null";
        case TMM_STATUS_NULL_C: return "c is null";
        case TMM_STATUS_NULL_ALPHA: return "alpha is null";
        case TMM_STATUS_NULL_BETA: return "beta is null";
        case TMM_STATUS_NULL_POINTER: return "a pointer that is needed is null";
        case TMM_STATUS_MISALIGNED_POINTER: return "misaligned pointer";
        case TMM_STATUS_MISALIGNED_WORKSPACE: return "misaligned workspace";
        case TMM_STATUS_WORKSPACE_TOO_SMALL: return "workspace too small";
        case TMM_STATUS_BETA_NOT_DECLARED: return "beta is not 0 in a problem with reads_c = 0";
        case TMM_STATUS_UNSUPPORTED_TYPE: return "unsupported element type";
        case TMM_STATUS_UNSUPPORTED_COMPUTE: return "unsupported compute mode";
        case TMM_STATUS_UNSUPPORTED_EPILOGUE: return "unsupported epilogue";
        case TMM_STATUS_INVALID_EXPRESSION: return "invalid expression";
        case TMM_STATUS_INVALID_ACTIVATION: return "invalid activation";
        case TMM_STATUS_INVALID_BIAS_AXIS: return "invalid bias axis";
        case TMM_STATUS_INVALID_LDR: return "invalid ldr";
        case TMM_STATUS_NULL_BIAS: return "bias is null";
        case TMM_STATUS_NULL_RESIDUAL: return "residual is null";
        case TMM_STATUS_NO_DEVICE: return "no such device or driver";
        case TMM_STATUS_DEVICE: return "device failure";
        case TMM_STATUS_OUT_OF_MEMORY: return "out of memory";
        case TMM_STATUS_COMPILER: return "kernel compiler missing or failed";
        case TMM_STATUS_INTERNAL: return "internal error";
        case TMM_STATUS_INVALID_OPERAND: return "invalid operand";
        case TMM_STATUS_MISALIGNED_PREPARED: return "misaligned memory for a prepared operand";
        case TMM_STATUS_PREPARED_TOO_SMALL: return "memory for a prepared operand too small";
        case TMM_STATUS_UNREADABLE_BUNDLE: return "the bundle can't be read";
        case TMM_STATUS_INVALID_BUNDLE: return "no bundle, or a damaged one";
        case TMM_STATUS_BUNDLE_VERSION: return "bundle of another version";
        case TMM_STATUS_BUNDLE_DEVICE: return "bundle for another device";
        case TMM_STATUS_INVALID_CONFIG: return "invalid config";
        case TMM_STATUS_INVALID_RESULT: return "invalid result";
        case TMM_STATUS_NOT_SQUARE: return "the result is not square";
        case TMM_STATUS_OVERLAP: return "c overlaps what is read";
    }
    return "unknown status";
}

}  // extern "C"
