#include "runtime/dropin/cublas/cublas_products.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "runtime/dropin/cublas/call_timer.h"
#include "runtime/dropin/cublas/devices.h"
#include "runtime/dropin/log.h"
#include "runtime/dropin/record/shape_record.h"
#include "runtime/dropin/record/shape_text.h"

namespace tmm::dropin::cublas {
namespace {

// The shapes of a process in TMM_MODE=record, which are written when it ends.
ShapeRecord& shapes() {
    // Never destroyed: handlers of exit() may multiply.
    static auto* const all = [] {
        auto* const made = new ShapeRecord;
        std::atexit([] {
            const std::string& file = settings().record;
            if (!shapes().write(file)) log(LogLevel::error, file + " can't be written: " + std::strerror(errno));
        });
        return made;
    }();
    return *all;
}

const tmmGemmProblem_t& default_problem() {
    static const tmmGemmProblem_t problem = [] {
        tmmGemmProblem_t made;
        tmmGemmProblemInit(&made);
        return made;
    }();
    return problem;
}

const char* name_of(const Gemm& gemm) {
    return gemm.function;
}
const char* name_of(const LtMatmul&) {
    return "cublasLtMatmul";
}

void complain_once() {
    static const bool done = [] {
        if (!settings().complaint.empty()) log(LogLevel::error, settings().complaint);
        return true;
    }();
    (void)done;
}

// False where tmm does not multiply such calls.
template <class Call>
bool translate_call(const Call& call, Product& product) {
    complain_once();
    const char* const reason = translate(call, product);
    if (reason && logs(LogLevel::debug)) log(LogLevel::debug, std::string(name_of(call)) + ": by cuBLAS, since " + reason);
    return !reason;
}

template <class Call>
bool multiplies_call(const Call& call) {
    Product product{.problem = default_problem()};
    if (!translate_call(call, product)) return false;
    DeviceProducts* const device = current_device();
    return device && device->multiply(product, name_of(call));
}

// Where memory for a look-up is short, cuBLAS multiplies.
template <class Call>
bool multiplies_or_not(const Call& call) noexcept {
    try {
        return multiplies_call(call);
    } catch (...) {
        return false;
    }
}

// A shape's first call may load cuBLAS's kernels, and is not timed; so many behind it are, which waits for their end.
constexpr long kTimedCalls = 4;

Status record_product(const Product& product, const std::function<Status()>& behind) {
    const tmmGemmProblem_t& p = product.problem;
    const std::string shape = shape_text(p);
    const long calls = shapes().count(shape);
    Status status = kSuccess;
    std::optional<double> seconds;
    if (calls >= 1 && calls <= kTimedCalls) {
        CallTimer timer(product.stream, settings().device == TMM_DEVICE_HOST);
        status = behind();
        seconds = timer.seconds();
    } else {
        status = behind();
    }
    if (status != kSuccess) return status;
    if (logs(LogLevel::debug)) log(LogLevel::debug, shape + ": recorded");
    shapes().add(shape, static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) * static_cast<double>(p.batch),
                 seconds);
    return status;
}

// behind is called once, also where memory is short.
template <class Call>
Status record_call(const Call& call, const std::function<Status()>& behind) {
    std::optional<Status> status;
    try {
        const auto once = [&] { return *(status = behind()); };
        Product product{.problem = default_problem()};
        // A shapes file has no product without k.
        if (translate_call(call, product) && product.problem.k > 0) return record_product(product, once);
    } catch (...) {
        log(LogLevel::error, "a product was not recorded: memory is short");
    }
    return status ? *status : behind();
}

}  // namespace

Status record(const Gemm& gemm, const std::function<Status()>& behind) {
    return record_call(gemm, behind);
}
Status record(const LtMatmul& matmul, const std::function<Status()>& behind) {
    return record_call(matmul, behind);
}

bool multiplies(const Gemm& gemm) noexcept {
    return multiplies_or_not(gemm);
}
bool multiplies(const LtMatmul& matmul) noexcept {
    return multiplies_or_not(matmul);
}

}  // namespace tmm::dropin::cublas
