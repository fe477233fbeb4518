// The BLAS's sgemm_ on tmm's host device, for test programs that were written for any BLAS. It checks no argument itself: what tmm refuses
// is handed to the program's own xerbla_. TMM_TEST_SGEMM_CALLS names a file for the number of calls.
#include <tmm/tmm.h>

#include <cstdio>
#include <cstdlib>

extern "C" void xerbla_(const char* routine, const int* argument, std::size_t length);

namespace {

class Library {
public:
    Library() {
        if (tmmCreate(&handle_, TMM_DEVICE_HOST, "/dev/null/none") != TMM_STATUS_SUCCESS) fail("tmmCreate");
    }
    ~Library() {
        tmmDestroy(handle_);
        const char* const name = std::getenv("TMM_TEST_SGEMM_CALLS");
        std::FILE* const file = name ? std::fopen(name, "w") : nullptr;
        if (!file) return;
        std::fprintf(file, "%ld\n", calls_);
        std::fclose(file);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    tmmHandle_t next_call() {
        ++calls_;
        return handle_;
    }
    [[noreturn]] void fail(const char* what) const {
        std::fprintf(stderr, "sgemm_: %s failed: %s\n", what, tmmLastError(handle_));
        std::_Exit(1);
    }

private:
    tmmHandle_t handle_ = nullptr;
    long calls_ = 0;
};

tmmOperation_t operation(char letter) {
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

// The place of the argument that was refused; 0: it was none.
int place_of(tmmStatus_t status, tmmOperation_t op_a) {
    switch (status) {
        case TMM_STATUS_INVALID_OPERATION: return op_a == static_cast<tmmOperation_t>(0) ? 1 : 2;
        case TMM_STATUS_INVALID_M: return 3;
        case TMM_STATUS_INVALID_N: return 4;
        case TMM_STATUS_INVALID_K: return 5;
        case TMM_STATUS_INVALID_LDA: return 8;
        case TMM_STATUS_INVALID_LDB: return 10;
        case TMM_STATUS_INVALID_LDC: return 13;
        default: return 0;
    }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void sgemm_(const char* transa, const char* transb, const int* m, const int* n,
                                                              const int* k, const float* alpha, const float* a, const int* lda,
                                                              const float* b, const int* ldb, const float* beta, float* c, const int* ldc,
                                                              std::size_t, std::size_t) {
    static Library library;
    const tmmOperation_t op_a = operation(*transa);
    const tmmStatus_t status =
        tmmSgemm(library.next_call(), TMM_COL_MAJOR, op_a, operation(*transb), *m, *n, *k, alpha, a, *lda, b, *ldb, beta, c, *ldc);
    if (status == TMM_STATUS_SUCCESS) return;
    const int place = place_of(status, op_a);
    if (place == 0) library.fail("tmmSgemm");
    xerbla_("SGEMM ", &place, 6);
}
