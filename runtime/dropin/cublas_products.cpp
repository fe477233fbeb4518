#include "runtime/dropin/cublas_products.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/dropin/devices.h"
#include "runtime/dropin/log.h"
#include "runtime/dropin/shape_record.h"
#include "runtime/dropin/shape_text.h"

namespace tmm::dropin::cublas {
namespace {

// The shapes of a process in TMM_MODE=record, which are written when it ends.
ShapeRecord& shapes() {
    // Never destroyed: handlers of exit() may multiply.
    static auto* const all = [] {
        auto* const made = new ShapeRecord(Measure::work);
        std::atexit([] {
            const std::string& file = settings().record;
            if (!shapes().write(file)) log(LogLevel::error, file + " can't be written: " + std::strerror(errno));
        });
        return made;
    }();
    return *all;
}

void record(const Product& product) {
    const tmmGemmProblem_t& p = product.problem;
    // A shapes file has no product without elements or without k.
    if (p.k == 0) return;
    const std::string shape = shape_text(p);
    if (logs(LogLevel::debug)) log(LogLevel::debug, shape + ": recorded");
    shapes().add(shape, static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) * static_cast<double>(p.batch));
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

template <class Call>
bool multiplies_call(const Call& call) {
    complain_once();
    Product product{.problem = default_problem()};
    if (const char* const reason = translate(call, product)) {
        if (logs(LogLevel::debug)) log(LogLevel::debug, std::string(name_of(call)) + ": by cuBLAS, since " + reason);
        return false;
    }
    if (settings().mode == Mode::record) {
        record(product);
        return false;
    }
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

}  // namespace

bool multiplies(const Gemm& gemm) noexcept {
    return multiplies_or_not(gemm);
}
bool multiplies(const LtMatmul& matmul) noexcept {
    return multiplies_or_not(matmul);
}

}  // namespace tmm::dropin::cublas
