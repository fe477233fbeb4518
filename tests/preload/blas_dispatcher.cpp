// A BLAS that hands products on to a library that the program names, as libblastrampoline and FlexiBLAS do.
#include <dlfcn.h>

#include <cstddef>

#define TMM_EXPORT __attribute__((visibility("default")))

namespace {

using Sgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*,
                       const int*, const float*, float*, const int*, std::size_t, std::size_t);
using CblasSgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
Sgemm sgemm_behind = nullptr;
CblasSgemm cblas_sgemm_behind = nullptr;

}  // namespace

extern "C" {
TMM_EXPORT int dispatch_to(const char* name) {
    void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library) return 0;
    sgemm_behind = reinterpret_cast<Sgemm>(dlsym(library, "sgemm_"));
    cblas_sgemm_behind = reinterpret_cast<CblasSgemm>(dlsym(library, "cblas_sgemm"));
    return sgemm_behind && cblas_sgemm_behind;
}
TMM_EXPORT void sgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const float* alpha, const float* a,
                       const int* lda, const float* b, const int* ldb, const float* beta, float* c, const int* ldc, std::size_t x,
                       std::size_t y) {
    sgemm_behind(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, x, y);
}
// One function's cycle may be through another.
TMM_EXPORT void cblas_sgemm(int layout, int op_a, int op_b, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                            int ldb, float beta, float* c, int ldc) {
    cblas_sgemm_behind(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
}
