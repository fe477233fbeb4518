// A program with 64-bit integers and a BLAS that has such under plain names: leading dimensions of more than 31 bits, of matrices of one
// row or column, reach it whole.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

extern "C" {
void sgemm_(const char*, const char*, const std::int64_t*, const std::int64_t*, const std::int64_t*, const float*, const float*,
            const std::int64_t*, const float*, const std::int64_t*, const float*, float*, const std::int64_t*, std::size_t, std::size_t);
void cblas_sgemm(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t,
                 const float*, std::int64_t, float, float*, std::int64_t);
}

int main() {
    constexpr std::int64_t kLong = (std::int64_t{1} << 32) + 1;
    const float one = 1;
    const float zero = 0;
    const std::int64_t single = 1;
    for (const std::int64_t n : {4, 200}) {
        const std::vector<float> a(static_cast<std::size_t>(n), 1.0f);
        const std::vector<float> b(static_cast<std::size_t>(n * n), 1.0f);
        std::vector<float> c(static_cast<std::size_t>(n));
        // A row of a matrix with very long rows, times a square.
        cblas_sgemm(101, 111, 111, 1, n, n, 1, a.data(), kLong, b.data(), n, 0, c.data(), kLong);
        // Sizes and leading dimensions that any BLAS could take.
        std::vector<float> e(static_cast<std::size_t>(n));
        cblas_sgemm(101, 111, 111, 1, n, n, 1, a.data(), n, b.data(), n, 0, e.data(), n);
        // A square times a column of a matrix with very long columns.
        std::vector<float> d(static_cast<std::size_t>(n));
        sgemm_("n", "n", &n, &single, &n, &one, b.data(), &n, a.data(), &kLong, &zero, d.data(), &kLong, 1, 1);
        for (std::size_t i = 0; i < c.size(); ++i) {
            if (c[i] == static_cast<float>(n) && d[i] == c[i] && e[i] == c[i]) continue;
            std::printf("of %lld: %g and %g\n", static_cast<long long>(n), static_cast<double>(c[i]), static_cast<double>(d[i]));
            return 1;
        }
    }
    return 0;
}
