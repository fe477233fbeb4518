// libtmm_blas.so: the BLAS's sgemm_ and cblas_sgemm, dgemm_ and cblas_dgemm, with integers of 32 and of 64 bits. Programs find these before
// those of the BLAS that they are linked with (LD_PRELOAD), and every other function, and whatever tmm does not multiply, in that BLAS.
#include <chrono>
#include <cstdint>

#include "runtime/dropin/behind.h"
#include "runtime/dropin/blas/gemm_call.h"
#include "runtime/dropin/blas/integer_width.h"
#include "runtime/dropin/door.h"
#include "runtime/dropin/load.h"
#include "runtime/dropin/settings.h"

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace tmm::dropin;

// An integer as a register or the stack holds it. A function of 32-bit integers takes the lower half; the upper one may hold anything.
using Word = std::int64_t;

constexpr Names kLibraries{"libblas.so.3", "libopenblas.so.0", "libmkl_rt.so"};

template <class Real>
constexpr tmmType_t kTypeOf = sizeof(Real) == sizeof(double) ? TMM_F64 : TMM_F32;

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

// The arguments as the program gave them, which the BLAS behind gets untouched. Real: float or double.
template <class Real>
struct Fortran {
    const char* op_a;
    const char* op_b;
    const void *m, *n, *k;
    const Real *alpha, *a;
    const void* lda;
    const Real* b;
    const void* ldb;
    const Real* beta;
    Real* c;
    const void* ldc;
    // The lengths of op_a and op_b, which some compilers hand over.
    std::size_t length_a, length_b;

    using Function = void (*)(const char*, const char*, const void*, const void*, const void*, const Real*, const Real*, const void*,
                              const Real*, const void*, const Real*, Real*, const void*, std::size_t, std::size_t);
    void call(Function function) const { function(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a, length_b); }
    template <class Int>
    GemmCall read() const {
        const auto value = [](const void* integer) { return std::int64_t{*static_cast<const Int*>(integer)}; };
        return {kTypeOf<Real>,
                TMM_COL_MAJOR,
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

template <class Real>
struct Cblas {
    Word layout, op_a, op_b, m, n, k;
    Real alpha;
    const Real* a;
    Word lda;
    const Real* b;
    Word ldb;
    Real beta;
    Real* c;
    Word ldc;

    using Function = void (*)(Word, Word, Word, Word, Word, Word, Real, const Real*, Word, const Real*, Word, Real, Real*, Word);
    void call(Function function) const { function(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); }
    template <class Int>
    GemmCall read() const {
        const auto value = [](Word word) { return std::int64_t{static_cast<Int>(word)}; };
        // The enumerators have CBLAS's values.
        return {kTypeOf<Real>,
                static_cast<tmmLayout_t>(static_cast<int>(layout)),
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
    const Door door = enter_door(frame);
    const Behind next = find_behind(symbol, caller, door);
    const auto behind = [&] {
        if (next.function)
            arguments.call(reinterpret_cast<typename Arguments::Function>(next.function));
        else
            own_work([&]() noexcept { return multiply_without_blas(arguments.template read<Int>()), true; });
    };
    Turn turn = Turn::behind;
    GemmCall call;
    if (door.is_outermost() && settings().mode != Mode::off) {
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
    leave_door(door);
}

}  // namespace

// name: the symbol's; Real: the type of its numbers; Int: the width of its integers; prefix: that of the other functions' names.
#define TMM_SYMBOL(name, prefix) constinit NextSymbol next_##name(#name, Names{prefix "isamax_", prefix "cblas_isamax"}, kLibraries)
#define TMM_FORTRAN_GEMM(name, Real, Int, prefix)                                                                                    \
    static TMM_SYMBOL(name, prefix);                                                                                                 \
    TMM_EXPORT void name(const char* transa, const char* transb, const void* m, const void* n, const void* k, const Real* alpha,     \
                         const Real* a, const void* lda, const Real* b, const void* ldb, const Real* beta, Real* c, const void* ldc, \
                         std::size_t length_a, std::size_t length_b) {                                                               \
        TMM_DOOR_IS_UNWOUND();                                                                                                       \
        serve<Int>(next_##name, __builtin_frame_address(0), __builtin_return_address(0),                                             \
                   Fortran<Real>{transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a, length_b});                 \
    }
#define TMM_CBLAS_GEMM(name, Real, Int, prefix)                                                                              \
    static TMM_SYMBOL(name, prefix);                                                                                         \
    TMM_EXPORT void name(Word layout, Word transa, Word transb, Word m, Word n, Word k, Real alpha, const Real* a, Word lda, \
                         const Real* b, Word ldb, Real beta, Real* c, Word ldc) {                                            \
        TMM_DOOR_IS_UNWOUND();                                                                                               \
        serve<Int>(next_##name, __builtin_frame_address(0), __builtin_return_address(0),                                     \
                   Cblas<Real>{layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});                       \
    }

TMM_FORTRAN_GEMM(sgemm_, float, std::int32_t, "")
TMM_FORTRAN_GEMM(sgemm_64_, float, std::int64_t, "")
TMM_CBLAS_GEMM(cblas_sgemm, float, std::int32_t, "")
TMM_CBLAS_GEMM(cblas_sgemm64_, float, std::int64_t, "")
// The wheels of NumPy and SciPy bring an OpenBLAS whose functions have these names.
TMM_FORTRAN_GEMM(scipy_sgemm_, float, std::int32_t, "scipy_")
TMM_FORTRAN_GEMM(scipy_sgemm_64_, float, std::int64_t, "scipy_")
TMM_CBLAS_GEMM(scipy_cblas_sgemm, float, std::int32_t, "scipy_")
TMM_CBLAS_GEMM(scipy_cblas_sgemm64_, float, std::int64_t, "scipy_")

TMM_FORTRAN_GEMM(dgemm_, double, std::int32_t, "")
TMM_FORTRAN_GEMM(dgemm_64_, double, std::int64_t, "")
TMM_CBLAS_GEMM(cblas_dgemm, double, std::int32_t, "")
TMM_CBLAS_GEMM(cblas_dgemm64_, double, std::int64_t, "")
TMM_FORTRAN_GEMM(scipy_dgemm_, double, std::int32_t, "scipy_")
TMM_FORTRAN_GEMM(scipy_dgemm_64_, double, std::int64_t, "scipy_")
TMM_CBLAS_GEMM(scipy_cblas_dgemm, double, std::int32_t, "scipy_")
TMM_CBLAS_GEMM(scipy_cblas_dgemm64_, double, std::int64_t, "scipy_")

__attribute__((constructor)) static void load() {
    at_load({&next_sgemm_, &next_sgemm_64_, &next_cblas_sgemm, &next_cblas_sgemm64_, &next_scipy_sgemm_, &next_scipy_sgemm_64_,
             &next_scipy_cblas_sgemm, &next_scipy_cblas_sgemm64_, &next_dgemm_, &next_dgemm_64_, &next_cblas_dgemm, &next_cblas_dgemm64_,
             &next_scipy_dgemm_, &next_scipy_dgemm_64_, &next_scipy_cblas_dgemm, &next_scipy_cblas_dgemm64_});
}
