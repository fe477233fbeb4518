// libtmm_blas.so: the BLAS's sgemm_ and cblas_sgemm, with integers of 32 and of 64 bits. Programs find these before those of the BLAS that
// they are linked with (LD_PRELOAD), and every other function, and whatever tmm does not multiply, in that BLAS.
#include <chrono>
#include <cstdint>

#include "runtime/dropin/behind.h"
#include "runtime/dropin/blas/integer_width.h"
#include "runtime/dropin/blas/sgemm.h"
#include "runtime/dropin/door.h"
#include "runtime/dropin/load.h"
#include "runtime/dropin/settings.h"

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace tmm::dropin;

// An integer as a register or the stack holds it. A function of 32-bit integers takes the lower half; the upper one may hold anything.
using Word = std::int64_t;

constexpr Names kLibraries{"libblas.so.3", "libopenblas.so.0", "libmkl_rt.so"};

tmmOperation_t operation_of(char letter) {
    switch (letter) {
        case 'n':
        case 'N': return TMM_NO_TRANS;
        case 't':
        case 'T': return TMM_TRANS;
        case 'c':
        case 'C': return TMM_CONJ_TRANS;
        default: return static_cast<tmmOperation_t>(0);
    }
}

// The arguments as the program gave them, which the BLAS behind gets untouched.
struct Fortran {
    const char* op_a;
    const char* op_b;
    const void *m, *n, *k;
    const float *alpha, *a;
    const void* lda;
    const float* b;
    const void* ldb;
    const float* beta;
    float* c;
    const void* ldc;
    // The lengths of op_a and op_b, which some compilers hand over.
    std::size_t length_a, length_b;

    using Function = void (*)(const char*, const char*, const void*, const void*, const void*, const float*, const float*, const void*,
                              const float*, const void*, const float*, float*, const void*, std::size_t, std::size_t);
    void call(Function function) const { function(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a, length_b); }
    template <class Int>
    SgemmCall read() const {
        const auto value = [](const void* integer) { return std::int64_t{*static_cast<const Int*>(integer)}; };
        return {TMM_COL_MAJOR,
                operation_of(*op_a),
                operation_of(*op_b),
                value(m),
                value(n),
                value(k),
                *alpha,
                a,
                value(lda),
                b,
                value(ldb),
                *beta,
                c,
                value(ldc)};
    }
};

struct Cblas {
    Word layout, op_a, op_b, m, n, k;
    float alpha;
    const float* a;
    Word lda;
    const float* b;
    Word ldb;
    float beta;
    float* c;
    Word ldc;

    using Function = void (*)(Word, Word, Word, Word, Word, Word, float, const float*, Word, const float*, Word, float, float*, Word);
    void call(Function function) const { function(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); }
    template <class Int>
    SgemmCall read() const {
        const auto value = [](Word word) { return std::int64_t{static_cast<Int>(word)}; };
        // The enumerators have CBLAS's values.
        return {static_cast<tmmLayout_t>(static_cast<int>(layout)),
                static_cast<tmmOperation_t>(static_cast<int>(op_a)),
                static_cast<tmmOperation_t>(static_cast<int>(op_b)),
                value(m),
                value(n),
                value(k),
                alpha,
                a,
                value(lda),
                b,
                value(ldb),
                beta,
                c,
                value(ldc)};
    }
};

double seconds_now() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Int: as wide as the name says; functions of plain names may all the same take wider ones.
template <class Int, class Arguments>
void serve(NextSymbol& symbol, const void* frame, const void* caller, const Arguments& arguments) {
    const Doors before = enter_door(frame);
    const Behind next = find_behind(symbol, caller);
    const auto behind = [&] {
        if (next.function)
            arguments.call(reinterpret_cast<typename Arguments::Function>(next.function));
        else
            own_work([&]() noexcept { return multiply_without_blas(arguments.template read<Int>()), true; });
    };
    Turn turn = Turn::behind;
    SgemmCall call;
    if (is_outermost_door() && settings().mode != Mode::off) {
        call = arguments.template read<Int>();
        // What the BLAS would refuse, it refuses itself, in its own words.
        if (is_valid(call) && may_be_served(call))
            turn = own_work([&]() noexcept {
                const bool is_as_named = sizeof(Int) == 8 || !next.function || takes_32_bits(next);
                return is_as_named ? multiply(call) : Turn::behind;
            });
    }
    if (turn == Turn::behind) behind();
    if (turn == Turn::behind_timed) {
        const double start = seconds_now();
        behind();
        own_work([&]() noexcept { return note_behind(call, seconds_now() - start), true; });
    }
    leave_door(before);
}

}  // namespace

// name: the symbol's; Int: the width of its integers; prefix: that of the other functions' names.
#define TMM_SYMBOL(name, prefix) constinit NextSymbol next_##name(#name, Names{prefix "isamax_", prefix "cblas_isamax"}, kLibraries)
#define TMM_FORTRAN_SGEMM(name, Int, prefix)                                                                                             \
    static TMM_SYMBOL(name, prefix);                                                                                                     \
    TMM_EXPORT void name(const char* transa, const char* transb, const void* m, const void* n, const void* k, const float* alpha,        \
                         const float* a, const void* lda, const float* b, const void* ldb, const float* beta, float* c, const void* ldc, \
                         std::size_t length_a, std::size_t length_b) {                                                                   \
        TMM_DOOR_IS_UNWOUND();                                                                                                           \
        serve<Int>(next_##name, __builtin_frame_address(0), __builtin_return_address(0),                                                 \
                   Fortran{transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a, length_b});                           \
    }
#define TMM_CBLAS_SGEMM(name, Int, prefix)                                                                                     \
    static TMM_SYMBOL(name, prefix);                                                                                           \
    TMM_EXPORT void name(Word layout, Word transa, Word transb, Word m, Word n, Word k, float alpha, const float* a, Word lda, \
                         const float* b, Word ldb, float beta, float* c, Word ldc) {                                           \
        TMM_DOOR_IS_UNWOUND();                                                                                                 \
        serve<Int>(next_##name, __builtin_frame_address(0), __builtin_return_address(0),                                       \
                   Cblas{layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});                               \
    }

TMM_FORTRAN_SGEMM(sgemm_, std::int32_t, "")
TMM_FORTRAN_SGEMM(sgemm_64_, std::int64_t, "")
TMM_CBLAS_SGEMM(cblas_sgemm, std::int32_t, "")
TMM_CBLAS_SGEMM(cblas_sgemm64_, std::int64_t, "")
// The wheels of NumPy and SciPy bring an OpenBLAS whose functions have these names.
TMM_FORTRAN_SGEMM(scipy_sgemm_, std::int32_t, "scipy_")
TMM_FORTRAN_SGEMM(scipy_sgemm_64_, std::int64_t, "scipy_")
TMM_CBLAS_SGEMM(scipy_cblas_sgemm, std::int32_t, "scipy_")
TMM_CBLAS_SGEMM(scipy_cblas_sgemm64_, std::int64_t, "scipy_")

__attribute__((constructor)) static void load() {
    at_load({&next_sgemm_, &next_sgemm_64_, &next_cblas_sgemm, &next_cblas_sgemm64_, &next_scipy_sgemm_, &next_scipy_sgemm_64_,
             &next_scipy_cblas_sgemm, &next_scipy_cblas_sgemm64_});
}
