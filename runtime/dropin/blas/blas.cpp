// libtmm_blas.so: the BLAS's sgemm_ and cblas_sgemm, with integers of 32 and of 64 bits. Programs find these before those of the BLAS that
// they are linked with (LD_PRELOAD), and every other function, and whatever tmm does not multiply, in that BLAS.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "runtime/dropin/behind.h"
#include "runtime/dropin/blas/sgemm.h"

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace tmm::dropin;

// The function of this name in the BLAS behind: of the libraries that are loaded, else of the system's BLAS.
void* function_of_blas(const char* name) {
    if (void* const found = function_behind(name)) return found;
    for (const char* library : {"libblas.so.3", "libopenblas.so.0", "libmkl_rt.so"}) {
        void* const opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
        void* const found = opened ? dlsym(opened, name) : nullptr;
        if (found) return found;
    }
    std::fprintf(stderr, "tmm: no BLAS behind libtmm_blas.so has %s: link the program with one, or preload one behind it\n", name);
    std::abort();
}

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

template <class Int>
using FortranSgemm = void (*)(const char*, const char*, const Int*, const Int*, const Int*, const float*, const float*, const Int*,
                              const float*, const Int*, const float*, float*, const Int*, std::size_t, std::size_t);
template <class Int>
using CblasSgemm = void (*)(int, int, int, Int, Int, Int, float, const float*, Int, const float*, Int, float, float*, Int);

template <class Int>
struct Fortran {
    const char* op_a;
    const char* op_b;
    const Int *m, *n, *k;
    const float *alpha, *a;
    const Int* lda;
    const float* b;
    const Int* ldb;
    const float* beta;
    float* c;
    const Int* ldc;

    void call(FortranSgemm<Int> next) const { next(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1); }
    SgemmCall checked() const {
        return {TMM_COL_MAJOR, operation_of(*op_a), operation_of(*op_b), *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc};
    }
};

// What the BLAS would refuse, it refuses itself, in its own words.
template <class Int>
void sgemm(const Fortran<Int>& arguments, FortranSgemm<Int> next) {
    const SgemmCall call = arguments.checked();
    if (!is_valid(call)) return arguments.call(next);
    multiply(call, [&] { arguments.call(next); });
}

template <class Int>
void cblas(CblasSgemm<Int> next, int layout, int op_a, int op_b, Int m, Int n, Int k, float alpha, const float* a, Int lda, const float* b,
           Int ldb, float beta, float* c, Int ldc) {
    // The enumerators have CBLAS's values.
    const SgemmCall call{static_cast<tmmLayout_t>(layout),
                         static_cast<tmmOperation_t>(op_a),
                         static_cast<tmmOperation_t>(op_b),
                         m,
                         n,
                         k,
                         alpha,
                         a,
                         lda,
                         b,
                         ldb,
                         beta,
                         c,
                         ldc};
    const auto behind = [&] { next(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); };
    if (!is_valid(call)) return behind();
    multiply(call, behind);
}

}  // namespace

// name: the symbol's; Int: the width of its integers. What stands behind is looked up at the first call.
#define TMM_FORTRAN_SGEMM(name, Int)                                                                                                  \
    TMM_EXPORT void name(const char* transa, const char* transb, const Int* m, const Int* n, const Int* k, const float* alpha,        \
                         const float* a, const Int* lda, const float* b, const Int* ldb, const float* beta, float* c, const Int* ldc, \
                         std::size_t, std::size_t) {                                                                                  \
        static const auto next = reinterpret_cast<FortranSgemm<Int>>(function_of_blas(#name));                                        \
        sgemm<Int>({transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, next);                                             \
    }
#define TMM_CBLAS_SGEMM(name, Int)                                                                                                      \
    TMM_EXPORT void name(int layout, int transa, int transb, Int m, Int n, Int k, float alpha, const float* a, Int lda, const float* b, \
                         Int ldb, float beta, float* c, Int ldc) {                                                                      \
        static const auto next = reinterpret_cast<CblasSgemm<Int>>(function_of_blas(#name));                                            \
        cblas<Int>(next, layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                         \
    }

TMM_FORTRAN_SGEMM(sgemm_, int)
TMM_FORTRAN_SGEMM(sgemm_64_, std::int64_t)
TMM_CBLAS_SGEMM(cblas_sgemm, int)
TMM_CBLAS_SGEMM(cblas_sgemm64_, std::int64_t)
// The wheels of NumPy and SciPy bring an OpenBLAS whose functions have these names.
TMM_FORTRAN_SGEMM(scipy_sgemm_, int)
TMM_FORTRAN_SGEMM(scipy_sgemm_64_, std::int64_t)
TMM_CBLAS_SGEMM(scipy_cblas_sgemm, int)
TMM_CBLAS_SGEMM(scipy_cblas_sgemm64_, std::int64_t)
