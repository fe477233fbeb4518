// libtmm_blas.so: the BLAS's gemm and syrk of floats and doubles, Fortran's and CBLAS's, with integers of 32 and of 64 bits. Programs find
// these before those of the BLAS that they are linked with (LD_PRELOAD), and every other function, and whatever tmm does not multiply, in
// that BLAS.
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

// No result that a BLAS has.
constexpr auto kNoResult = static_cast<tmmResult_t>(-1);

tmmResult_t triangle_of(char letter) {
    switch (letter) {
        case 'l':
        case 'L': return TMM_RESULT_LOWER;
        case 'u':
        case 'U': return TMM_RESULT_UPPER;
        default: return kNoResult;
    }
}
// CBLAS's number of a triangle.
tmmResult_t triangle_of(int uplo) {
    return uplo == 121 ? TMM_RESULT_UPPER : uplo == 122 ? TMM_RESULT_LOWER : kNoResult;
}

// A matrix of n rows times its transpose, or one of n columns after its transpose.
struct Syrk {
    tmmType_t type;
    tmmLayout_t layout;
    tmmResult_t triangle;
    tmmOperation_t op;
    std::int64_t n;
    std::int64_t k;
    double alpha;
    const void* a;
    std::int64_t lda;
    double beta;
    void* c;
    std::int64_t ldc;

    GemmCall as_gemm() const {
        const tmmOperation_t opposite = op == TMM_NO_TRANS ? TMM_TRANS : TMM_NO_TRANS;
        return {type, layout, op, opposite, n, n, k, alpha, a, lda, a, lda, beta, c, ldc, triangle};
    }
};

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

template <class Real>
struct FortranSyrk {
    const char* uplo;
    const char* op;
    const void *n, *k;
    const Real *alpha, *a;
    const void* lda;
    const Real* beta;
    Real* c;
    const void* ldc;
    // The lengths of uplo and op.
    std::size_t length_uplo, length_op;

    using Function = void (*)(const char*, const char*, const void*, const void*, const Real*, const Real*, const void*, const Real*, Real*,
                              const void*, std::size_t, std::size_t);
    void call(Function function) const { function(uplo, op, n, k, alpha, a, lda, beta, c, ldc, length_uplo, length_op); }
    template <class Int>
    GemmCall read() const {
        const auto value = [](const void* integer) { return std::int64_t{*static_cast<const Int*>(integer)}; };
        return Syrk{
            kTypeOf<Real>, TMM_COL_MAJOR, triangle_of(*uplo), operation_of(*op), value(n), value(k), *alpha, a, value(lda), *beta, c,
            value(ldc)}
            .as_gemm();
    }
};

template <class Real>
struct CblasSyrk {
    Word layout, uplo, op, n, k;
    Real alpha;
    const Real* a;
    Word lda;
    Real beta;
    Real* c;
    Word ldc;

    using Function = void (*)(Word, Word, Word, Word, Word, Real, const Real*, Word, Real, Real*, Word);
    void call(Function function) const { function(layout, uplo, op, n, k, alpha, a, lda, beta, c, ldc); }
    template <class Int>
    GemmCall read() const {
        const auto value = [](Word word) { return std::int64_t{static_cast<Int>(word)}; };
        return Syrk{kTypeOf<Real>,
                    static_cast<tmmLayout_t>(static_cast<int>(layout)),
                    triangle_of(static_cast<int>(uplo)),
                    static_cast<tmmOperation_t>(static_cast<int>(op)),
                    value(n),
                    value(k),
                    alpha,
                    a,
                    value(lda),
                    beta,
                    c,
                    value(ldc)}
            .as_gemm();
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

#define TMM_FORTRAN_SYRK(name, Real, Int, prefix)                                                                                       \
    static TMM_SYMBOL(name, prefix);                                                                                                    \
    TMM_EXPORT void name(const char* uplo, const char* trans, const void* n, const void* k, const Real* alpha, const Real* a,           \
                         const void* lda, const Real* beta, Real* c, const void* ldc, std::size_t length_uplo, std::size_t length_op) { \
        TMM_DOOR_IS_UNWOUND();                                                                                                          \
        serve<Int>(next_##name, __builtin_frame_address(0), __builtin_return_address(0),                                                \
                   FortranSyrk<Real>{uplo, trans, n, k, alpha, a, lda, beta, c, ldc, length_uplo, length_op});                          \
    }
#define TMM_CBLAS_SYRK(name, Real, Int, prefix)                                                                                       \
    static TMM_SYMBOL(name, prefix);                                                                                                  \
    TMM_EXPORT void name(Word layout, Word uplo, Word trans, Word n, Word k, Real alpha, const Real* a, Word lda, Real beta, Real* c, \
                         Word ldc) {                                                                                                  \
        TMM_DOOR_IS_UNWOUND();                                                                                                        \
        serve<Int>(next_##name, __builtin_frame_address(0), __builtin_return_address(0),                                              \
                   CblasSyrk<Real>{layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc});                                          \
    }

// The functions of one type by all their names. The wheels of NumPy and SciPy bring an OpenBLAS whose functions begin with scipy_.
#define TMM_FUNCTIONS_OF(letter, Real)                                          \
    TMM_FORTRAN_GEMM(letter##gemm_, Real, std::int32_t, "")                     \
    TMM_FORTRAN_GEMM(letter##gemm_64_, Real, std::int64_t, "")                  \
    TMM_CBLAS_GEMM(cblas_##letter##gemm, Real, std::int32_t, "")                \
    TMM_CBLAS_GEMM(cblas_##letter##gemm64_, Real, std::int64_t, "")             \
    TMM_FORTRAN_GEMM(scipy_##letter##gemm_, Real, std::int32_t, "scipy_")       \
    TMM_FORTRAN_GEMM(scipy_##letter##gemm_64_, Real, std::int64_t, "scipy_")    \
    TMM_CBLAS_GEMM(scipy_cblas_##letter##gemm, Real, std::int32_t, "scipy_")    \
    TMM_CBLAS_GEMM(scipy_cblas_##letter##gemm64_, Real, std::int64_t, "scipy_") \
    TMM_FORTRAN_SYRK(letter##syrk_, Real, std::int32_t, "")                     \
    TMM_FORTRAN_SYRK(letter##syrk_64_, Real, std::int64_t, "")                  \
    TMM_CBLAS_SYRK(cblas_##letter##syrk, Real, std::int32_t, "")                \
    TMM_CBLAS_SYRK(cblas_##letter##syrk64_, Real, std::int64_t, "")             \
    TMM_FORTRAN_SYRK(scipy_##letter##syrk_, Real, std::int32_t, "scipy_")       \
    TMM_FORTRAN_SYRK(scipy_##letter##syrk_64_, Real, std::int64_t, "scipy_")    \
    TMM_CBLAS_SYRK(scipy_cblas_##letter##syrk, Real, std::int32_t, "scipy_")    \
    TMM_CBLAS_SYRK(scipy_cblas_##letter##syrk64_, Real, std::int64_t, "scipy_")
TMM_FUNCTIONS_OF(s, float)
TMM_FUNCTIONS_OF(d, double)

#define TMM_NAMES_OF(function)                                                                                                   \
    &next_##function##_, &next_##function##_64_, &next_cblas_##function, &next_cblas_##function##64_, &next_scipy_##function##_, \
        &next_scipy_##function##_64_, &next_scipy_cblas_##function, &next_scipy_cblas_##function##64_
__attribute__((constructor)) static void load() {
    at_load({TMM_NAMES_OF(sgemm), TMM_NAMES_OF(dgemm), TMM_NAMES_OF(ssyrk), TMM_NAMES_OF(dsyrk)});
}
