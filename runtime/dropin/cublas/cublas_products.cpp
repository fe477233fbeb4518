#include "runtime/dropin/cublas/cublas_products.h"

#include <memory>
#include <optional>
#include <string>

#include "runtime/dropin/cublas/call_timer.h"
#include "runtime/dropin/cublas/devices.h"
#include "runtime/dropin/log.h"
#include "runtime/dropin/process.h"
#include "runtime/dropin/record/recorder.h"
#include "runtime/dropin/record/shape_text.h"
#include "runtime/dropin/settings.h"

namespace tmm::dropin::cublas {

struct Expected {
    std::string shape;
    // Takes the call's time.
    std::optional<CallTimer> timer;
};

namespace {

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

// False where tmm does not multiply such calls.
template <class Call>
bool translate_call(const Call& call, Product& product) {
    complain_once();
    const char* const reason = translate(call, product);
    if (reason && logs(LogLevel::debug)) log(LogLevel::debug, std::string(name_of(call)) + ": by cuBLAS, since " + reason);
    return !reason;
}

template <class Call>
Turn turn_of_call(const Call& call) {
    Product product{.problem = default_problem()};
    if (!translate_call(call, product)) return {};
    DeviceProducts* const device = current_device();
    return device ? device->multiply(product, name_of(call)) : Turn{};
}

// Where memory for a look-up is short, cuBLAS multiplies.
template <class Call>
Turn turn_or_none(const Call& call) noexcept {
    // A forked child finds its parent's locks as they were, and no CUDA.
    if (!owns_tmm()) return {};
    try {
        return turn_of_call(call);
    } catch (...) {
        return {};
    }
}

// A shape's first call may load cuBLAS's kernels, and is not timed; so many behind it are, which waits for their end.
constexpr long kTimedCalls = 4;

// Times are taken where CUDA works.
template <class Call>
Expected* expected_of(const Call& call) noexcept {
    try {
        Product product{.problem = default_problem()};
        // A shapes file has no product without k.
        if (!translate_call(call, product) || product.problem.k == 0) return nullptr;
        auto expected = std::make_unique<Expected>();
        expected->shape = shape_text(product.problem);
        const long calls = recorded_calls(expected->shape);
        if (calls >= 1 && calls <= kTimedCalls && owns_tmm()) expected->timer.emplace(product.stream, settings().device == TMM_DEVICE_HOST);
        return expected.release();
    } catch (...) {
        log(LogLevel::error, "a product was not recorded: memory is short");
        return nullptr;
    }
}

}  // namespace

Turn turn_of(const Gemm& gemm) noexcept {
    return turn_or_none(gemm);
}
Turn turn_of(const LtMatmul& matmul) noexcept {
    return turn_or_none(matmul);
}
void note_turn(const Turn& turn, Status status) noexcept {
    // cuBLAS may have forked, as far as anybody knows.
    if (owns_tmm()) end_timed(turn.timed, status == kSuccess);
}

Expected* expect(const Gemm& gemm) noexcept {
    return expected_of(gemm);
}
Expected* expect(const LtMatmul& matmul) noexcept {
    return expected_of(matmul);
}

void note(Expected* expected, Status status) noexcept {
    const std::unique_ptr<Expected> owned(expected);
    if (!owned || status != kSuccess) return;
    try {
        if (logs(LogLevel::debug)) log(LogLevel::debug, owned->shape + ": recorded");
        record(owned->shape, owned->timer ? owned->timer->seconds() : std::nullopt);
    } catch (...) {
        log(LogLevel::error, "a product was not recorded: memory is short");
    }
}

}  // namespace tmm::dropin::cublas
