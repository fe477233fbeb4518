// A BLAS for tests: a loop. STAND_IN_INTEGER is the type of its integers; STAND_IN_FACTOR multiplies its results, which tells one from
// another.
#include "blas_stand_in.h"

#include <cstddef>
#include <cstdint>

#define TMM_EXPORT __attribute__((visibility("default")))

namespace {

using Int = STAND_IN_INTEGER;

struct Matrix {
    const float* elements;
    std::int64_t ld;
    bool along_rows;
    float at(std::int64_t row, std::int64_t column) const { return elements[along_rows ? row * ld + column : row + column * ld]; }
};

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Matrix& a, const Matrix& b, float beta, float* c,
              std::int64_t ldc, bool along_rows) {
    __atomic_add_fetch(&blas_stand_in_calls, 1, __ATOMIC_RELAXED);
    if (blas_stand_in_hook) blas_stand_in_hook();
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            float sum = 0;
            for (std::int64_t p = 0; p < k; ++p) sum += a.at(i, p) * b.at(p, j);
            float& to = c[along_rows ? i * ldc + j : i + j * ldc];
            to = STAND_IN_FACTOR * alpha * sum + (beta == 0 ? 0 : beta * to);
        }
}

bool is_plain(char op) {
    return op == 'n' || op == 'N';
}

[[maybe_unused]] Int place_of_largest(Int n, const float* x, Int stride) {
    if (n < 1 || stride < 1) return -1;
    Int best = 0;
    for (Int i = 1; i < n; ++i)
        if (x[i * stride] > x[best * stride]) best = i;
    return best;
}

}  // namespace

extern "C" {
void (*blas_stand_in_hook)() = nullptr;
int blas_stand_in_calls = 0;

TMM_EXPORT void sgemm_(const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k, const float* alpha, const float* a,
                       const Int* lda, const float* b, const Int* ldb, const float* beta, float* c, const Int* ldc, std::size_t,
                       std::size_t) {
    multiply(*m, *n, *k, *alpha, {a, *lda, !is_plain(*op_a)}, {b, *ldb, !is_plain(*op_b)}, *beta, c, *ldc, false);
}
TMM_EXPORT void cblas_sgemm(Int layout, Int op_a, Int op_b, Int m, Int n, Int k, float alpha, const float* a, Int lda, const float* b,
                            Int ldb, float beta, float* c, Int ldc) {
    const bool rows = layout == 101;
    multiply(m, n, k, alpha, {a, lda, rows == (op_a == 111)}, {b, ldb, rows == (op_b == 111)}, beta, c, ldc, rows);
}
#ifndef STAND_IN_NO_ISAMAX
TMM_EXPORT Int isamax_(const Int* n, const float* x, const Int* stride) {
    return place_of_largest(*n, x, *stride) + 1;
}
TMM_EXPORT Int cblas_isamax(Int n, const float* x, Int stride) {
    const Int place = place_of_largest(n, x, stride);
    return place < 0 ? 0 : place;
}
#endif
}
