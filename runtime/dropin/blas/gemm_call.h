// A call of the BLAS's gemm or syrk of floats or doubles, whichever door it came by, and who multiplies it: tmm or the BLAS that stands
// behind.
#pragma once

#include <cstdint>

#include "tmm/tmm.h"

namespace tmm::dropin {

// The arguments are checked: sizes are not negative, leading dimensions long enough, no pointer that is needed is null.
struct GemmCall {
    // TMM_F32 or TMM_F64: what the matrices hold and the product is computed in.
    tmmType_t type;
    tmmLayout_t layout;
    tmmOperation_t op_a;
    tmmOperation_t op_b;
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
    double alpha;
    const void* a;
    std::int64_t lda;
    const void* b;
    std::int64_t ldb;
    double beta;
    void* c;
    std::int64_t ldc;
    // TMM_RESULT_LOWER and _UPPER are syrk's: A and B are one matrix, of opposite operations.
    tmmResult_t result = TMM_RESULT_FULL;
};

// Would the BLAS take the arguments? It says itself what is wrong with those that it does not.
bool is_valid(const GemmCall& call);

// Whether the call is worth more than a glance: it is large enough, this process has tmm and tmm a device, or it is to be recorded.
bool may_be_served(const GemmCall& call) noexcept;

// Whose turn it is. Where it is tmm's, it has multiplied.
enum class Turn {
    tmm,
    behind,
    // The function behind is to multiply, and note_behind() wants to know how long it took.
    behind_timed
};
Turn multiply(const GemmCall& call) noexcept;
void note_behind(const GemmCall& call, double seconds) noexcept;

// A plain loop, for a process in which no BLAS is to be found. Says so, once.
void multiply_without_blas(const GemmCall& call) noexcept;

}  // namespace tmm::dropin
