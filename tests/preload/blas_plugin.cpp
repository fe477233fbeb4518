// A library with a BLAS of its own, opened and closed by a program that has none, as Python's and R's packages are.
#include <cstddef>

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*, const int*,
            const float*, float*, const int*, std::size_t, std::size_t);
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);

// The sum of the elements of two products of matrices of ones.
__attribute__((visibility("default"))) float plugin_multiply() {
    const int n = 8;
    const float one = 1;
    const float zero = 0;
    float a[64];
    float c[64] = {};
    float d[64] = {};
    for (float& element : a) element = 1;
    sgemm_("n", "t", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
    cblas_sgemm(101, 111, 112, n, n, n, 1, a, n, a, n, 0, d, n);
    float sum = 0;
    for (int i = 0; i < n * n; ++i) sum += c[i] + d[i];
    return sum;
}
}
