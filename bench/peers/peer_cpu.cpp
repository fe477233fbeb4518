// The peer without a GPU is OpenBLAS where it is installed, else a plain loop; it is timed by the host's clock on matrices in its memory.
// 16-bit operands are multiplied as floats; converting them is not timed. A plain loop behind the product applies an epilogue.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bench/operands/element_bits.h"
#include "bench/operands/operands.h"
#include "bench/peers/peers.h"
#include "bench/peers/plain_product.h"
#include "bench/timing/host_replay.h"
#include "db/store/measurement.h"
#include "tmm/checks/verify/epilogue.h"

namespace tmm::bench {
namespace {

// cblas_sgemm and cblas_dgemm.
template <class T>
using CblasGemm = void (*)(int layout, int op_a, int op_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta,
                           T* c, int ldc);
constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;

// Larger problems would keep everybody waiting.
constexpr double kMostFlopsOpenblas = 2.0 * 8192 * 8192 * 8192;
constexpr double kMostFlopsLoop = 2.0 * 512 * 512 * 512;

template <class T>
void multiply_loop(const GemmProblem& p, T alpha, const T* a, const T* b, T beta, T* c) {
    for (i64 i = 0; i < p.m; ++i)
        for (i64 j = 0; j < p.n; ++j) {
            T sum = 0;
            for (i64 l = 0; l < p.k; ++l) {
                const T x = p.op_a == Operation::none ? a[i * p.lda + l] : a[l * p.lda + i];
                const T y = p.op_b == Operation::none ? b[l * p.ldb + j] : b[j * p.ldb + l];
                sum += x * y;
            }
            T& element = c[i * p.ldc + j];
            element = beta == 0 ? alpha * sum : alpha * sum + beta * element;
        }
}

int cblas_op(Operation op) {
    return op == Operation::none ? kNoTrans : kTrans;
}

template <class T>
void multiply(CblasGemm<T> gemm, const GemmProblem& p, const GemmCall& call) {
    const auto* a = static_cast<const T*>(call.a);
    const auto* b = static_cast<const T*>(call.b);
    auto* c = static_cast<T*>(call.c);
    const auto alpha = static_cast<T>(call.alpha);
    const auto beta = static_cast<T>(call.beta);
    for (i64 batch = 0; batch < p.batch; ++batch, a += p.stride_a, b += p.stride_b, c += p.stride_c) {
        if (gemm)
            gemm(kRowMajor, cblas_op(p.op_a), cblas_op(p.op_b), static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), alpha,
                 a, static_cast<int>(p.lda), b, static_cast<int>(p.ldb), beta, c, static_cast<int>(p.ldc));
        else
            multiply_loop(p, alpha, a, b, beta, c);
    }
}

// Finishes what the product holds, row after row, and leaves it in C, which is the product's memory where the problem has no gate.
template <class T>
void apply_epilogue(const GemmProblem& p, const T* product, const GemmCall& call) {
    if (p.epilogue == Epilogue::none) return;
    const GemmProblem layout = plain_product(p);
    const i64 rows = rows_of_c(p);
    const i64 columns = columns_of_c(p);
    // What a gate is for stands so many rows below it, or columns behind it.
    const i64 rows_on = gates_rows(p.activation) ? rows : 0;
    const i64 columns_on = gates_columns(p.activation) ? columns : 0;
    const auto* bias = static_cast<const T*>(call.bias);
    for (i64 batch = 0; batch < p.batch; ++batch)
        for (i64 row = 0; row < rows; ++row) {
            const T* sums = product + batch * layout.stride_c;
            T* c = static_cast<T*>(call.c) + batch * p.stride_c + row * p.ldc;
            const T* residual = p.residual ? static_cast<const T*>(call.residual) + batch * p.stride_r + row * p.ldr : nullptr;
            const auto biased = [&](i64 row_of_product, i64 column) -> double {
                const T sum = sums[row_of_product * layout.ldc + column];
                return bias ? static_cast<double>(sum) + bias[p.bias == BiasAxis::rows ? row_of_product : column] : sum;
            };
            for (i64 column = 0; column < columns; ++column) {
                const double x = is_gate(p.activation) ? gated_in_double(biased(row, column), biased(row + rows_on, column + columns_on))
                                                       : activated_in_double(p.activation, biased(row, column));
                c[column] = static_cast<T>(residual ? x + residual[column] : x);
            }
        }
}

std::size_t span(i64 rows, i64 columns, i64 ld, i64 batch, i64 stride) {
    return static_cast<std::size_t>(spanned_elements(rows, columns, ld, batch, stride));
}

std::size_t span_of_c(const GemmProblem& p) {
    return span(rows_of_c(p), columns_of_c(p), p.ldc, p.batch, p.stride_c);
}

// T: what is computed in.
template <class T>
class CpuContestant final : public Contestant {
public:
    CpuContestant(std::shared_ptr<Device> device, CblasGemm<T> gemm, const GemmProblem& problem)
        : device_(std::move(device)),
          gemm_(gemm),
          problem_(problem),
          a_(span(stored_rows_a(problem), stored_columns_a(problem), problem.lda, problem.batch, problem.stride_a)),
          b_(span(stored_rows_b(problem), stored_columns_b(problem), problem.ldb, problem.batch, problem.stride_b)),
          c_(span_of_c(problem)),
          product_(is_gate(problem.activation) ? span_of_c(plain_product(problem)) : 0),
          bias_(static_cast<std::size_t>(elements_of_bias(problem))),
          residual_(problem.residual ? span(rows_of_c(problem), columns_of_c(problem), problem.ldr, problem.batch, problem.stride_r) : 0) {}

    void enqueue(const GemmCall& call, Stream stream) override {
        device_->synchronize(stream);
        fetch(a_, problem_.type_a, call.a);
        fetch(b_, problem_.type_b, call.b);
        fetch(c_, problem_.type_c, call.c);
        fetch(bias_, problem_.type_bias, call.bias);
        fetch(residual_, problem_.type_c, call.residual);
        serve(on_host(call));
        const std::vector<std::byte> c = to_stored(problem_.type_c, {c_.begin(), c_.end()});
        device_->copy_to_device(call.c, c.data(), c.size());
    }

    std::unique_ptr<Replay> record(Device&, const std::vector<GemmCall>& calls) override {
        if (calls.empty()) throw std::runtime_error("nothing to record");
        enqueue(calls.front(), nullptr);
        return std::make_unique<HostReplay>([this, call = on_host(calls.front()), count = calls.size()] {
            for (std::size_t i = 0; i < count; ++i) serve(call);
        });
    }
    bool has_host_cost() const override { return false; }
    std::string detail() const override { return size_of(problem_.type_a) == 2 ? "as floats" : ""; }

private:
    void serve(const GemmCall& call) {
        GemmCall product = call;
        if (!product_.empty()) product.c = product_.data();
        multiply(gemm_, plain_product(problem_), product);
        apply_epilogue(problem_, static_cast<const T*>(product.c), call);
    }
    void fetch(std::vector<T>& values, ElementType type, const void* from) const {
        if (values.empty()) return;
        std::vector<std::byte> stored(values.size() * static_cast<std::size_t>(size_of(type)));
        device_->copy_to_host(stored.data(), from, stored.size());
        const std::vector<double> held = to_values(type, stored);
        std::transform(held.begin(), held.end(), values.begin(), [](double value) { return static_cast<T>(value); });
    }
    GemmCall on_host(const GemmCall& call) {
        GemmCall copy = call;
        copy.a = a_.data();
        copy.b = b_.data();
        copy.c = c_.data();
        copy.bias = bias_.empty() ? nullptr : bias_.data();
        copy.residual = residual_.empty() ? nullptr : residual_.data();
        return copy;
    }

    std::shared_ptr<Device> device_;
    CblasGemm<T> gemm_;
    GemmProblem problem_;
    std::vector<T> a_;
    std::vector<T> b_;
    std::vector<T> c_;
    // What a gate takes: it is empty where C holds the product.
    std::vector<T> product_;
    std::vector<T> bias_;
    std::vector<T> residual_;
};

class CpuPeer final : public Peer {
public:
    explicit CpuPeer(std::shared_ptr<Device> device) : device_(std::move(device)) {
        if (void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) {
            sgemm_ = reinterpret_cast<CblasGemm<float>>(dlsym(library, "cblas_sgemm"));
            dgemm_ = reinterpret_cast<CblasGemm<double>>(dlsym(library, "cblas_dgemm"));
            if (const auto config = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_config")); config && sgemm_)
                version_ = config();
        }
    }

    std::string name() const override { return "cpu"; }
    std::string version() const override { return version_; }

    std::vector<std::unique_ptr<Contestant>> offers(const GemmProblem& problem) override {
        if (problem.compute == ComputeMode::s32) throw std::runtime_error("OpenBLAS multiplies no whole numbers");
        const bool in_doubles = problem.compute == ComputeMode::f64;
        const bool has_library = in_doubles ? dgemm_ != nullptr : sgemm_ != nullptr;
        const double most = has_library ? kMostFlopsOpenblas : kMostFlopsLoop;
        if (flops(problem) > most)
            throw std::runtime_error(
                fmt::format("the CPU is asked for at most {:.0f} GFLOP, this is {:.0f}", most / 1e9, flops(problem) / 1e9));
        for (const i64 extent : {problem.m, problem.n, problem.k, problem.lda, problem.ldb, plain_product(problem).ldc})
            if (extent > std::numeric_limits<int>::max()) throw std::runtime_error("OpenBLAS takes sizes below 2^31");
        std::vector<std::unique_ptr<Contestant>> found;
        if (in_doubles)
            found.push_back(std::make_unique<CpuContestant<double>>(device_, dgemm_, problem));
        else
            found.push_back(std::make_unique<CpuContestant<float>>(device_, sgemm_, problem));
        return found;
    }

private:
    std::shared_ptr<Device> device_;
    CblasGemm<float> sgemm_ = nullptr;
    CblasGemm<double> dgemm_ = nullptr;
    std::string version_ = "a plain loop (libopenblas.so.0 was not found)";
};

}  // namespace

std::unique_ptr<Peer> make_cpu_peer(std::shared_ptr<Device> device) {
    return std::make_unique<CpuPeer>(std::move(device));
}

}  // namespace tmm::bench
