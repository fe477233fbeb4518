#include "runtime/dropin/blas/gemm_call.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "runtime/dropin/blas/ab_timing.h"
#include "runtime/dropin/log.h"
#include "runtime/dropin/process.h"
#include "runtime/dropin/record/recorder.h"
#include "runtime/dropin/record/shape_text.h"
#include "runtime/dropin/settings.h"

namespace tmm::dropin {
namespace {

using Clock = std::chrono::steady_clock;
using Who = AbTiming::Who;

// Below so many multiply-adds no GPU makes up for the copies of the matrices, and looking a shape up would cost more than it is worth.
constexpr double kLeastProducts = 1 << 21;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

tmmGemmProblem_t problem_of(const GemmCall& call) {
    tmmGemmProblem_t problem;
    tmmGemmProblemInit(&problem);
    problem.layout = call.layout;
    problem.type_a = problem.type_b = problem.type_c = call.type;
    problem.compute = call.type == TMM_F64 ? TMM_COMPUTE_F64 : TMM_COMPUTE_F32;
    problem.op_a = call.op_a;
    problem.op_b = call.op_b;
    problem.m = call.m;
    problem.n = call.n;
    problem.k = call.k;
    problem.lda = call.lda;
    problem.ldb = call.ldb;
    problem.ldc = call.ldc;
    problem.reads_c = call.beta != 0 ? 1 : 0;
    problem.result = call.result;
    return problem;
}

// The matrices are copied to the device, where their rows are not padded.
std::string shape_of(const GemmCall& call) {
    tmmGemmProblem_t problem = problem_of(call);
    set_packed(problem);
    return shape_text(problem);
}

template <class Real>
tmmStatus_t multiply_as(tmmHandle_t handle, const GemmCall& call) noexcept {
    const auto alpha = static_cast<Real>(call.alpha);
    const auto beta = static_cast<Real>(call.beta);
    const tmmGemmProblem_t problem = problem_of(call);
    tmmGemmArgs_t args{};
    args.struct_size = sizeof args;
    args.alpha = &alpha;
    args.beta = &beta;
    args.a = call.a;
    args.b = call.b;
    args.c = call.c;
    return tmmHostGemm(handle, &problem, &args);
}

double products_of(const GemmCall& call) {
    const double products = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
    return call.result == TMM_RESULT_FULL ? products : products / 2;
}

// The emulated device, which is for tests, serves whatever it can. Bits that hang on no other row must all be tmm's.
bool serves_all() {
    return settings().device == TMM_DEVICE_HOST || settings().invariant;
}

std::string function_of(const GemmCall& call) {
    const std::string letter = call.type == TMM_F64 ? "d" : "s";
    return letter + (call.result == TMM_RESULT_FULL ? "gemm" : "syrk");
}

// A forked child finds its parent's locks as they were when it was forked, so it comes near none of this.
class Products {
public:
    Products() {
        tmmSetLogCallback([](const char* line, void*) { log(LogLevel::warn, line); }, nullptr);
        if (tmmCreate(&handle_, settings().device, nullptr) == TMM_STATUS_SUCCESS) return;
        log(LogLevel::warn, std::string("all products go to the BLAS behind: ") + tmmLastError(nullptr));
        handle_ = nullptr;
    }

    bool has_device() const { return handle_; }

    Who next_of(const std::string& shape) {
        if (serves_all()) return Who::tmm;
        const std::lock_guard lock(mutex_);
        return ab_timings_[shape].next();
    }

    // Whether the function behind needs no more timing.
    bool is_decided(const std::string& shape) {
        const std::lock_guard lock(mutex_);
        return ab_timings_[shape].is_decided();
    }

    // False where tmm can't: C is as it was.
    bool multiply(const std::string& shape, const GemmCall& c) noexcept {
        const auto start = Clock::now();
        const tmmStatus_t status = c.type == TMM_F64 ? multiply_as<double>(handle_, c) : multiply_as<float>(handle_, c);
        const double seconds = seconds_since(start);
        try {
            if (status == TMM_STATUS_SUCCESS) {
                note(shape, Who::tmm, seconds);
            } else {
                // That there is no compiler is worth one line.
                const bool is_news = status != TMM_STATUS_COMPILER || !lacks_compiler_.exchange(true);
                log(is_news ? LogLevel::warn : LogLevel::debug, shape + " goes to the BLAS behind: " + tmmLastError(handle_));
                refuse(shape);
            }
        } catch (...) {
            // Memory for what is noted is short.
        }
        return status == TMM_STATUS_SUCCESS;
    }

    void note(const std::string& shape, Who who, double seconds) {
        if (serves_all()) return;
        const std::lock_guard lock(mutex_);
        AbTiming& ab_timing = ab_timings_[shape];
        const bool was_decided = ab_timing.is_decided();
        ab_timing.note(who, seconds);
        if (was_decided || !ab_timing.is_decided()) return;
        log(LogLevel::info, shape + ": by " + (ab_timing.next() == Who::tmm ? "tmm" : "the BLAS behind") + ", since tmm took " +
                                std::to_string(1e6 * ab_timing.of_tmm()) + " us with its copies, the BLAS " +
                                std::to_string(1e6 * ab_timing.behind()) + " us");
    }

private:
    void refuse(const std::string& shape) {
        const std::lock_guard lock(mutex_);
        ab_timings_[shape].refuse();
    }

    tmmHandle_t handle_ = nullptr;
    std::atomic<bool> lacks_compiler_ = false;
    std::mutex mutex_;
    std::map<std::string, AbTiming> ab_timings_;
};

// Set once tmm was found to have no device.
ProcessFlag lacks_device;

// Made by the first product that is worth it. Never destroyed: handlers of exit() may multiply.
Products& products() {
    static auto* const all = new Products;
    return *all;
}

void say_that_nothing_is_tuned() {
    static ProcessFlag said;
    if (settings().mode == Mode::tune && said.raise())
        log(LogLevel::warn,
            "TMM_MODE=tune: libtmm_blas.so tunes nothing, and goes on as with TMM_MODE=use; record the shapes "
            "(TMM_MODE=record), and run tmm-tune");
}

}  // namespace

bool is_valid(const GemmCall& c) {
    const auto is_operation = [](tmmOperation_t op) { return op == TMM_NO_TRANS || op == TMM_TRANS || op == TMM_CONJ_TRANS; };
    if ((c.layout != TMM_ROW_MAJOR && c.layout != TMM_COL_MAJOR) || !is_operation(c.op_a) || !is_operation(c.op_b)) return false;
    if (c.result != TMM_RESULT_FULL && c.result != TMM_RESULT_LOWER && c.result != TMM_RESULT_UPPER) return false;
    if (c.m < 0 || c.n < 0 || c.k < 0) return false;
    const bool rows = c.layout == TMM_ROW_MAJOR;
    const auto length = [&](tmmOperation_t op, std::int64_t op_rows, std::int64_t op_columns) {
        return (op == TMM_NO_TRANS) == rows ? op_columns : op_rows;
    };
    const auto fits = [](std::int64_t ld, std::int64_t line) { return ld >= std::max<std::int64_t>(1, line); };
    return fits(c.lda, length(c.op_a, c.m, c.k)) && fits(c.ldb, length(c.op_b, c.k, c.n)) && fits(c.ldc, rows ? c.n : c.m);
}

bool may_be_served(const GemmCall& call) noexcept {
    if (call.m == 0 || call.n == 0 || call.k == 0 || call.alpha == 0) return false;
    if (settings().mode == Mode::record) return true;
    if (!serves_all() && products_of(call) < kLeastProducts) return false;
    return owns_tmm() && !lacks_device.is_raised();
}

Turn multiply(const GemmCall& call) noexcept {
    try {
        complain_once();
        say_that_nothing_is_tuned();
        if (settings().mode == Mode::record) return Turn::behind_timed;
        if (!products().has_device()) {
            lacks_device.raise();
            return Turn::behind;
        }
        const std::string shape = shape_of(call);
        const Who who = products().next_of(shape);
        if (logs(LogLevel::debug)) log(LogLevel::debug, shape + (who == Who::tmm ? ": by tmm" : ": by the BLAS behind"));
        if (who == Who::behind) return products().is_decided(shape) ? Turn::behind : Turn::behind_timed;
        return products().multiply(shape, call) ? Turn::tmm : Turn::behind;
    } catch (...) {
        // Memory for a look-up is short.
        return Turn::behind;
    }
}

void note_behind(const GemmCall& call, double seconds) noexcept {
    try {
        const std::string shape = shape_of(call);
        if (settings().mode != Mode::record) return products().note(shape, Who::behind, seconds);
        if (logs(LogLevel::debug)) log(LogLevel::debug, shape + ": recorded");
        record(shape, seconds);
    } catch (...) {
        log(LogLevel::error, "a product was not noted: memory is short");
    }
}

namespace {

template <class Real>
void multiply_by_loop(const GemmCall& call) noexcept {
    const auto distance = [](bool along_rows, std::int64_t ld, std::int64_t row, std::int64_t column) {
        return along_rows ? row * ld + column : row + column * ld;
    };
    const bool rows = call.layout == TMM_ROW_MAJOR;
    const auto element = [&](const void* matrix, std::int64_t ld, tmmOperation_t op, std::int64_t row, std::int64_t column) {
        return static_cast<const Real*>(matrix)[distance(rows == (op == TMM_NO_TRANS), ld, row, column)];
    };
    const auto alpha = static_cast<Real>(call.alpha);
    const auto beta = static_cast<Real>(call.beta);
    for (std::int64_t i = 0; i < call.m; ++i)
        for (std::int64_t j = 0; j < call.n; ++j) {
            if ((call.result == TMM_RESULT_LOWER && j > i) || (call.result == TMM_RESULT_UPPER && j < i)) continue;
            Real sum = 0;
            for (std::int64_t p = 0; alpha != 0 && p < call.k; ++p)
                sum += element(call.a, call.lda, call.op_a, i, p) * element(call.b, call.ldb, call.op_b, p, j);
            Real& to = static_cast<Real*>(call.c)[distance(rows, call.ldc, i, j)];
            to = beta == 0 ? alpha * sum : alpha * sum + beta * to;
        }
}

}  // namespace

void multiply_without_blas(const GemmCall& call) noexcept {
    static ProcessFlag said;
    const std::string name = function_of(call);
    if (said.raise())
        log(LogLevel::error, "no BLAS behind libtmm_blas.so has " + name +
                                 ": a plain loop multiplies. Link the program with a BLAS, or preload one behind this library");
    if (!is_valid(call)) return log(LogLevel::error, name + ": an argument is wrong, and there is no BLAS that would say which");
    call.type == TMM_F64 ? multiply_by_loop<double>(call) : multiply_by_loop<float>(call);
}

}  // namespace tmm::dropin
