// A program that is linked with OpenBLAS and knows nothing of tmm: it compares, bit for bit, what ssyrk and dsyrk do with what OpenBLAS's
// own do for the same arguments. All values are integers of a few bits. tests/dropin/test_blas_syrk.cpp runs its cases with libtmm_blas.so
// loaded first.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

extern "C" {
#define DECLARE(letter, Real)                                                                                                      \
    void letter##syrk_(const char*, const char*, const int*, const int*, const Real*, const Real*, const int*, const Real*, Real*, \
                       const int*, std::size_t, std::size_t);                                                                      \
    void cblas_##letter##syrk(int, int, int, int, int, Real, const Real*, int, Real, Real*, int);
DECLARE(s, float)
DECLARE(d, double)
#undef DECLARE
}

namespace {

// OpenBLAS's own function, whatever was loaded first.
template <class Function>
Function* behind(const char* name, Function*) {
    static void* const library = dlopen(TMM_TEST_OPENBLAS, RTLD_LAZY | RTLD_NOLOAD);
    REQUIRE(library);
    auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
    REQUIRE((function != nullptr));
    return function;
}
#define BEHIND(name) behind(#name, &name)

enum { kRowMajor = 101, kColumnMajor = 102, kPlain = 111, kTransposed = 112, kConjugate = 113, kUpper = 121, kLower = 122 };

template <class Real>
struct Case {
    int layout;
    int uplo;
    int op;
    int n;
    int k;
    int pad;
    Real alpha;
    Real beta;
    std::vector<Real> a = {};
    std::vector<Real> c = {};

    int lda() const { return ((op == kPlain) == (layout == kRowMajor) ? k : n) + pad; }
    int ldc() const { return n + pad; }
    // Where beta is 0, C is full of NaN.
    Case& fill() {
        std::mt19937 random(static_cast<unsigned>(n * 100 + k));
        const auto integer = [&] { return static_cast<Real>(static_cast<int>(random() % 9) - 4); };
        const std::size_t most = static_cast<std::size_t>(n + k + pad) * static_cast<std::size_t>(n + k + pad);
        a.resize(most);
        for (Real& value : a) value = integer();
        c.resize(most);
        for (Real& value : c) value = beta == 0 ? std::numeric_limits<Real>::quiet_NaN() : integer();
        return *this;
    }
};

long calls = 0;

template <class Real, class Function>
std::vector<Real> by_cblas(Function* function, const Case<Real>& x) {
    std::vector<Real> c = x.c;
    function(x.layout, x.uplo, x.op, x.n, x.k, x.alpha, x.a.data(), x.lda(), x.beta, c.data(), x.ldc());
    return c;
}
template <class Real, class Function>
std::vector<Real> by_fortran(Function* function, const Case<Real>& x, bool is_small_letter) {
    std::vector<Real> c = x.c;
    char uplo = x.uplo == kUpper ? 'U' : 'L';
    char op = x.op == kPlain ? 'N' : x.op == kTransposed ? 'T' : 'C';
    if (is_small_letter) uplo = static_cast<char>(uplo + 32), op = static_cast<char>(op + 32);
    const int lda = x.lda();
    const int ldc = x.ldc();
    function(&uplo, &op, &x.n, &x.k, &x.alpha, x.a.data(), &lda, &x.beta, c.data(), &ldc, 1, 1);
    return c;
}

template <class Real>
bool is_same(const std::vector<Real>& x, const std::vector<Real>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(Real)) == 0;
}

void compare(const Case<float>& x, bool is_small_letter) {
    CHECK(is_same(by_cblas(&cblas_ssyrk, x), by_cblas(BEHIND(cblas_ssyrk), x)));
    ++calls;
    if (x.layout == kRowMajor) return;
    CHECK(is_same(by_fortran(&ssyrk_, x, is_small_letter), by_fortran(BEHIND(ssyrk_), x, is_small_letter)));
    ++calls;
}
void compare(const Case<double>& x, bool is_small_letter) {
    CHECK(is_same(by_cblas(&cblas_dsyrk, x), by_cblas(BEHIND(cblas_dsyrk), x)));
    ++calls;
    if (x.layout == kRowMajor) return;
    CHECK(is_same(by_fortran(&dsyrk_, x, is_small_letter), by_fortran(BEHIND(dsyrk_), x, is_small_letter)));
    ++calls;
}

template <class Real>
void compare_all() {
    for (const int layout : {kRowMajor, kColumnMajor})
        for (const int uplo : {kUpper, kLower})
            for (const int op : {kPlain, kTransposed, kConjugate})
                for (const auto& [n, k] : {std::pair{3, 7}, {33, 17}})
                    for (const int pad : {0, 3})
                        for (const auto& [alpha, beta] : {std::pair{1, 0}, {-2, 1}, {3, -2}}) {
                            CAPTURE(sizeof(Real));
                            CAPTURE(layout);
                            CAPTURE(uplo);
                            CAPTURE(op);
                            CAPTURE(n);
                            CAPTURE(k);
                            CAPTURE(pad);
                            CAPTURE(beta);
                            Case<Real> x{layout, uplo, op, n, k, pad, static_cast<Real>(alpha), static_cast<Real>(beta)};
                            compare(x.fill(), pad != 0);
                        }
}

}  // namespace

TEST_CASE("a triangle has the bits of OpenBLAS and the other one stays") {
    compare_all<float>();
    compare_all<double>();
    std::printf("calls: %ld\n", calls);
}

TEST_CASE("what makes no product of it is OpenBLAS's") {
    for (const int k : {0, 4})
        for (const float alpha : {0.0f, 1.0f}) {
            if (k != 0 && alpha != 0) continue;
            Case<float> x{kColumnMajor, kLower, kPlain, 5, k, 1, alpha, 2};
            compare(x.fill(), false);
        }
    Case<float> empty{kColumnMajor, kLower, kPlain, 0, 4, 1, 1, 2};
    compare(empty.fill(), false);
}

TEST_CASE("a child's triangles are right whatever its parent has had multiplied") {
    Case<float> x{kRowMajor, kUpper, kPlain, 33, 20, 0, 1, 0};
    compare(x.fill(), false);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) _exit(is_same(by_cblas(&cblas_ssyrk, x), by_cblas(BEHIND(cblas_ssyrk), x)) ? 0 : 1);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}
