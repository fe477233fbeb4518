// What a call of cuBLAS costs the calling thread with libtmm_cublas.so in front of it, and without: both functions are called by turns in
// one process. It is no test by itself: scripts/test_dropin runs it on a GPU, tests/dropin/test_cublas.cpp with a stand-in.
// Usage: LD_PRELOAD=libtmm_cublas.so cublas_call_cost LIBRARY [--host]
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/dropin/cublas/cublas_abi.h"

using namespace tmm::dropin::cublas;

namespace {

constexpr int kRounds = 60;
constexpr int kCalls = 100;
constexpr int kReal64F = 1;
constexpr int kCompute64F = 70;

using Sgemm = Status (*)(Handle, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*, float*, int);
using GemmEx = Status (*)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*, void*,
                          int, int, int, int);

void* function(void* library, const char* name) {
    void* const found = dlsym(library, name);
    if (!found) throw std::runtime_error(std::string("there is no ") + name);
    return found;
}
template <class Function>
Function as(void* found) {
    return reinterpret_cast<Function>(found);
}

void expect_success(int status, const char* what) {
    if (status != 0) throw std::runtime_error(std::string(what) + " gives " + std::to_string(status));
}

// A GPU's primary context by the driver, or the process's own memory.
class Memory {
public:
    explicit Memory(bool on_host) : on_host_(on_host) {
        if (on_host) return;
        driver_ = dlopen("libcuda.so.1", RTLD_NOW);
        if (!driver_) throw std::runtime_error("there is no CUDA driver");
        int device = 0;
        void* context = nullptr;
        expect_success(as<int (*)(unsigned)>(function(driver_, "cuInit"))(0), "cuInit");
        expect_success(as<int (*)(int*, int)>(function(driver_, "cuDeviceGet"))(&device, 0), "cuDeviceGet");
        expect_success(as<int (*)(void**, int)>(function(driver_, "cuDevicePrimaryCtxRetain"))(&context, device),
                       "cuDevicePrimaryCtxRetain");
        expect_success(as<int (*)(void*)>(function(driver_, "cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
        synchronize_ = as<int (*)()>(function(driver_, "cuCtxSynchronize"));
    }
    void* zeros(std::size_t bytes) const {
        if (on_host_) return std::calloc(bytes, 1);
        unsigned long long memory = 0;
        expect_success(as<int (*)(unsigned long long*, std::size_t)>(function(driver_, "cuMemAlloc_v2"))(&memory, bytes), "cuMemAlloc");
        expect_success(as<int (*)(unsigned long long, unsigned char, std::size_t)>(function(driver_, "cuMemsetD8_v2"))(memory, 0, bytes),
                       "cuMemsetD8");
        return reinterpret_cast<void*>(memory);
    }
    void synchronize() const {
        if (synchronize_) expect_success(synchronize_(), "cuCtxSynchronize");
    }

private:
    bool on_host_;
    void* driver_ = nullptr;
    int (*synchronize_)() = nullptr;
};

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

// Nanoseconds a call, many calls behind each other.
double timed(const Memory& memory, const std::function<Status()>& call) {
    memory.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) expect_success(call(), "a call");
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kCalls;
}

void compare(const Memory& memory, const char* name, const std::function<Status()>& in_front, const std::function<Status()>& behind) {
    for (const auto* call : {&in_front, &behind}) (void)timed(memory, *call);
    std::vector<double> with;
    std::vector<double> without;
    std::vector<double> apart;
    for (int round = 0; round < kRounds; ++round) {
        const bool front_first = round % 2 == 0;
        const double first = timed(memory, front_first ? in_front : behind);
        const double second = timed(memory, front_first ? behind : in_front);
        with.push_back(front_first ? first : second);
        without.push_back(front_first ? second : first);
        apart.push_back(with.back() - without.back());
    }
    std::printf("%-44s %8.0f ns a call, %8.0f without the library: %+.0f\n", name, median(with), median(without), median(apart));
    std::fflush(stdout);
}

struct Shape {
    const char* name;
    int m, n, k;
    int type;
    int compute;
    int op_a = kOpN;
    int op_b = kOpN;
    float beta = 0;
};

void run(const char* library, bool on_host) {
    void* const cublas = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!cublas) throw std::runtime_error(dlerror());
    const Memory memory(on_host);
    Handle handle = nullptr;
    expect_success(as<Status (*)(Handle*)>(function(cublas, "cublasCreate_v2"))(&handle), "cublasCreate");
    // What a program that is linked with cuBLAS finds.
    void* const found[] = {function(RTLD_DEFAULT, "cublasSgemm_v2"), function(RTLD_DEFAULT, "cublasGemmEx")};
    void* const own[] = {function(cublas, "cublasSgemm_v2"), function(cublas, "cublasGemmEx")};
    std::puts(found[0] == own[0] ? "no library stands in front" : "libtmm_cublas.so stands in front");

    constexpr int kMost = 4096;
    void* const a = memory.zeros(std::size_t{kMost} * kMost * 4);
    void* const b = memory.zeros(std::size_t{kMost} * kMost * 4);
    void* const c = memory.zeros(std::size_t{kMost} * kMost * 4);
    const float one = 1;
    const float zero = 0;
    const auto nothing = [&](void* sgemm) {
        return [=, &one, &zero] {
            return as<Sgemm>(sgemm)(handle, kOpN, kOpN, 0, 8, 8, &one, static_cast<const float*>(a), 8, static_cast<const float*>(b), 8,
                                    &zero, static_cast<float*>(c), 8);
        };
    };
    compare(memory, "nothing to do (m = 0)", nothing(found[0]), nothing(own[0]));

    const double wide_one = 1;
    const double wide_zero = 0;
    const auto product = [&](void* gemm, const Shape& s) {
        const bool wide = s.type == kReal64F;
        const float* const beta = s.beta != 0 ? &one : &zero;
        const void* const alpha_of = wide ? static_cast<const void*>(&wide_one) : &one;
        const void* const beta_of = wide ? static_cast<const void*>(&wide_zero) : beta;
        return [=] {
            return as<GemmEx>(gemm)(handle, s.op_a, s.op_b, s.m, s.n, s.k, alpha_of, a, s.type, s.op_a == kOpN ? s.m : s.k, b, s.type,
                                    s.op_b == kOpN ? s.k : s.n, beta_of, c, s.type, s.m, s.compute, kAlgorithmDefault);
        };
    };
    std::vector<Shape> shapes{{"f32 16x16x16", 16, 16, 16, kReal32F, kCompute32F},
                              {"f16 pedantic 16x16x16: left to cuBLAS", 16, 16, 16, kReal16F, kCompute32FPedantic}};
    if (!on_host) {
        shapes.push_back({"f64 16x16x16", 16, 16, 16, kReal64F, kCompute64F});
        shapes.push_back({"f16 37x41x43 tt beta=1", 37, 41, 43, kReal16F, kCompute32F, kOpT, kOpT, 1});
        shapes.push_back({"f32 512x512x512", 512, 512, 512, kReal32F, kCompute32F});
        shapes.push_back({"bf16 512x512x512", 512, 512, 512, kReal16BF, kCompute32F});
        shapes.push_back({"bf16 1024x1024x1024", 1024, 1024, 1024, kReal16BF, kCompute32F});
        shapes.push_back({"bf16 4096x16x4096 tn", 4096, 16, 4096, kReal16BF, kCompute32F, kOpT, kOpN});
    }
    for (const Shape& shape : shapes) compare(memory, shape.name, product(found[1], shape), product(own[1], shape));
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) {
        std::fputs("cublas_call_cost LIBRARY [--host]\n", stderr);
        return 2;
    }
    try {
        run(words[1], count > 2 && std::strcmp(words[2], "--host") == 0);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
