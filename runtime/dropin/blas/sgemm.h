// A call of the BLAS's sgemm, whichever door it came by, and who multiplies it: tmm or the BLAS that stands behind.
#pragma once

#include <cstdint>
#include <functional>

#include "tmm/tmm.h"

namespace tmm::dropin {

// The arguments are checked: sizes are not negative, leading dimensions long enough, no pointer that is needed is null.
struct SgemmCall {
    tmmLayout_t layout;
    tmmOperation_t op_a;
    tmmOperation_t op_b;
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
    float alpha;
    const float* a;
    std::int64_t lda;
    const float* b;
    std::int64_t ldb;
    float beta;
    float* c;
    std::int64_t ldc;
};

// Would the BLAS take the arguments? It says itself what is wrong with those that it does not.
bool is_valid(const SgemmCall& call);

// Multiplies. behind: the same call of the BLAS behind; it is called once where tmm does not multiply. Never throws.
void multiply(const SgemmCall& call, const std::function<void()>& behind) noexcept;

}  // namespace tmm::dropin
