#include "runtime/dropin/blas/sgemm.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "runtime/dropin/blas/contest.h"
#include "runtime/dropin/log.h"
#include "runtime/dropin/record/shape_record.h"
#include "runtime/dropin/record/shape_text.h"
#include "runtime/dropin/settings.h"

namespace tmm::dropin {
namespace {

using Clock = std::chrono::steady_clock;

// Below so many multiply-adds no GPU makes up for the copies of the matrices, and looking a shape up would cost more than it is worth.
constexpr double kLeastProducts = 1 << 21;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double timed(const std::function<void()>& work) {
    const auto start = Clock::now();
    work();
    return seconds_since(start);
}

// The matrices are copied to the device, where their rows are not padded.
std::string shape_of(const SgemmCall& call) {
    tmmGemmProblem_t problem;
    tmmGemmProblemInit(&problem);
    problem.layout = call.layout;
    problem.op_a = call.op_a;
    problem.op_b = call.op_b;
    problem.m = call.m;
    problem.n = call.n;
    problem.k = call.k;
    problem.reads_c = call.beta != 0 ? 1 : 0;
    set_packed(problem);
    return shape_text(problem);
}

double products_of(const SgemmCall& call) {
    return static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
}

class Products {
public:
    Products() {
        const Settings& s = settings();
        if (!s.complaint.empty()) log(LogLevel::error, s.complaint);
        if (s.mode != Mode::use && s.mode != Mode::tune) return;
        tmmSetLogCallback([](const char* line, void*) { log(LogLevel::warn, line); }, nullptr);
        const tmmStatus_t status = tmmCreate(&handle_, s.device, nullptr);
        if (status == TMM_STATUS_SUCCESS) return;
        log(LogLevel::warn, std::string("all products go to the BLAS behind: ") + tmmLastError(nullptr));
        handle_ = nullptr;
    }

    void multiply(const SgemmCall& call, const std::function<void()>& behind) {
        if (settings().mode == Mode::record) return record(call, behind);
        if (!handle_ || is_trivial(call)) return behind();
        // The emulated device is for tests: it serves whatever it can.
        if (settings().device == TMM_DEVICE_HOST) return serve_always(call, behind);
        if (products_of(call) < kLeastProducts) return behind();
        contest(call, behind);
    }
    void write_record() const {
        const std::string& file = settings().record;
        if (settings().mode == Mode::record && !shapes_.write(file))
            log(LogLevel::error, file + " can't be written: " + std::strerror(errno));
    }

private:
    static bool is_trivial(const SgemmCall& call) { return call.m == 0 || call.n == 0 || call.k == 0 || call.alpha == 0; }

    void record(const SgemmCall& call, const std::function<void()>& behind) {
        const double seconds = timed(behind);
        if (is_trivial(call)) return;
        const std::string shape = shape_of(call);
        if (logs(LogLevel::debug)) log(LogLevel::debug, shape + ": recorded");
        shapes_.add(shape, products_of(call), seconds);
    }

    // False where tmm can't: C is as it was.
    bool by_tmm(const SgemmCall& c) {
        const tmmStatus_t status =
            tmmHostSgemm(handle_, c.layout, c.op_a, c.op_b, c.m, c.n, c.k, &c.alpha, c.a, c.lda, c.b, c.ldb, &c.beta, c.c, c.ldc);
        if (status == TMM_STATUS_SUCCESS) return true;
        // That there is no compiler is worth one line.
        const bool is_news = status != TMM_STATUS_COMPILER || !lacks_compiler_.exchange(true);
        const LogLevel level = is_news ? LogLevel::warn : LogLevel::debug;
        if (logs(level)) log(level, shape_of(c) + " goes to the BLAS behind: " + tmmLastError(handle_));
        return false;
    }

    void serve_always(const SgemmCall& call, const std::function<void()>& behind) {
        if (logs(LogLevel::debug)) log(LogLevel::debug, shape_of(call) + ": by tmm");
        if (!by_tmm(call)) behind();
    }

    void contest(const SgemmCall& call, const std::function<void()>& behind) {
        const std::string shape = shape_of(call);
        const Contest::Who who = next_of(shape);
        if (logs(LogLevel::debug)) log(LogLevel::debug, shape + (who == Contest::Who::tmm ? ": by tmm" : ": by the BLAS behind"));
        const auto start = Clock::now();
        if (who == Contest::Who::tmm && !by_tmm(call)) {
            refuse(shape);
            return behind();
        }
        if (who == Contest::Who::behind) behind();
        note(shape, who, seconds_since(start));
    }

    Contest::Who next_of(const std::string& shape) {
        const std::lock_guard lock(mutex_);
        return contests_[shape].next();
    }
    void refuse(const std::string& shape) {
        const std::lock_guard lock(mutex_);
        contests_[shape].refuse();
    }
    void note(const std::string& shape, Contest::Who who, double seconds) {
        const std::lock_guard lock(mutex_);
        Contest& contest = contests_[shape];
        const bool was_decided = contest.is_decided();
        contest.note(who, seconds);
        if (was_decided || !contest.is_decided()) return;
        log(LogLevel::info, shape + ": by " + (contest.next() == Contest::Who::tmm ? "tmm" : "the BLAS behind") + ", since tmm took " +
                                std::to_string(1e6 * contest.of_tmm()) + " us with its copies, the BLAS " +
                                std::to_string(1e6 * contest.behind()) + " us");
    }

    tmmHandle_t handle_ = nullptr;
    std::atomic<bool> lacks_compiler_ = false;
    std::mutex mutex_;
    std::map<std::string, Contest> contests_;
    ShapeRecord shapes_;
};

Products& products() {
    // Never destroyed: handlers of exit() may multiply.
    static auto* const all = [] {
        auto* const made = new Products;
        std::atexit([] { products().write_record(); });
        return made;
    }();
    return *all;
}

}  // namespace

bool is_valid(const SgemmCall& c) {
    const auto is_operation = [](tmmOperation_t op) { return op == TMM_NO_TRANS || op == TMM_TRANS || op == TMM_CONJ_TRANS; };
    if ((c.layout != TMM_ROW_MAJOR && c.layout != TMM_COL_MAJOR) || !is_operation(c.op_a) || !is_operation(c.op_b)) return false;
    if (c.m < 0 || c.n < 0 || c.k < 0) return false;
    const bool rows = c.layout == TMM_ROW_MAJOR;
    const auto length = [&](tmmOperation_t op, std::int64_t op_rows, std::int64_t op_columns) {
        return (op == TMM_NO_TRANS) == rows ? op_columns : op_rows;
    };
    const auto fits = [](std::int64_t ld, std::int64_t line) { return ld >= std::max<std::int64_t>(1, line); };
    return fits(c.lda, length(c.op_a, c.m, c.k)) && fits(c.ldb, length(c.op_b, c.k, c.n)) && fits(c.ldc, rows ? c.n : c.m);
}

void multiply(const SgemmCall& call, const std::function<void()>& behind) noexcept {
    // What multiplies within tmm, such as the BLAS of a library that it loads, is left alone.
    static thread_local bool within = false;
    if (within || settings().mode == Mode::off) return behind();
    within = true;
    bool called = false;
    try {
        products().multiply(call, [&] {
            called = true;
            behind();
        });
    } catch (...) {
        // Memory for a look-up is short.
        if (!called) behind();
    }
    within = false;
}

}  // namespace tmm::dropin
