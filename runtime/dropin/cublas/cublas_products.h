// Calls of cuBLAS, and who multiplies them: tmm or the cuBLAS behind.
#pragma once

#include <functional>

#include "runtime/dropin/cublas/cublas_gemm.h"
#include "runtime/dropin/cublas/cublas_lt_matmul.h"
#include "runtime/dropin/settings.h"

namespace tmm::dropin::cublas {

// Marks that the thread is within a call: what cuBLAS or tmm calls in it is left alone.
class Within {
public:
    Within() : is_outermost_(!active()) { active() = true; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    ~Within() {
        if (is_outermost_) active() = false;
    }
    bool is_outermost() const { return is_outermost_; }

private:
    static bool& active() {
        static thread_local bool within = false;
        return within;
    }
    const bool is_outermost_;
};

// True where tmm has queued the product; false where cuBLAS is to be called.
bool multiplies(const Gemm& gemm) noexcept;
bool multiplies(const LtMatmul& matmul) noexcept;

// Calls cuBLAS, and writes down what of.
Status record(const Gemm& gemm, const std::function<Status()>& behind);
Status record(const LtMatmul& matmul, const std::function<Status()>& behind);

// behind: the same call of the cuBLAS behind.
template <class Call, class Behind>
Status multiply(const Call& call, const Behind& behind) {
    const Mode mode = settings().mode;
    if (mode == Mode::off) return behind();
    const Within within;
    if (!within.is_outermost()) return behind();
    if (mode == Mode::record) return record(call, std::cref(behind));
    return multiplies(call) ? kSuccess : behind();
}

}  // namespace tmm::dropin::cublas
