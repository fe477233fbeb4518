// This peer is cuBLAS as a program gets it that makes one handle and calls cublasSgemm or cublasDgemm, or cublasGemmEx for 16-bit and
// 8-bit operands and TF32: default math and algorithm, with the workspace it asks for. It has no epilogues: an elementwise kernel applies
// them behind the product.
#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "bench/peers/cublas_library.h"
#include "bench/peers/peers.h"
#include "bench/peers/plain_product.h"
#include "bench/peers/separate_epilogue.h"
#include "generator/text/text.h"

namespace tmm::bench {
namespace {

struct CublasSession {
    CublasSession(std::shared_ptr<Device> device, const PeerOptions& options)
        : library(open_cublas(options.cublas_directory)), workspace(std::move(device), static_cast<std::size_t>(options.workspace_bytes)) {
        check_cublas(library.create(&handle), "cublasCreate");
    }
    CublasSession(const CublasSession&) = delete;
    CublasSession& operator=(const CublasSession&) = delete;
    ~CublasSession() { library.destroy(handle); }

    void use(Stream next) {
        if (has_stream && stream == next) return;
        check_cublas(library.set_stream(handle, next), "cublasSetStream");
        // Setting the stream takes the workspace away.
        check_cublas(library.set_workspace(handle, workspace.data(), workspace.bytes()), "cublasSetWorkspace");
        stream = next;
        has_stream = true;
    }

    CublasLibrary library;
    DeviceBuffer workspace;
    CublasHandle handle = nullptr;
    Stream stream = nullptr;
    bool has_stream = false;
};

int operation(Operation op) {
    return op == Operation::none ? kCublasOpN : kCublasOpT;
}

class CublasContestant final : public Contestant {
public:
    // The sizes are below 2^31.
    CublasContestant(std::shared_ptr<CublasSession> session, const GemmProblem& problem)
        : session_(std::move(session)),
          p_(problem),
          first_op_(operation(problem.op_b)),
          second_op_(operation(problem.op_a)),
          m_(static_cast<int>(problem.m)),
          n_(static_cast<int>(problem.n)),
          k_(static_cast<int>(problem.k)),
          batch_(static_cast<int>(problem.batch)),
          lda_(static_cast<int>(problem.lda)),
          ldb_(static_cast<int>(problem.ldb)),
          ldc_(static_cast<int>(problem.ldc)),
          type_a_(cuda_type(problem.type_a)),
          type_b_(cuda_type(problem.type_b)),
          type_c_(cuda_type(problem.type_c)),
          compute_(cublas_compute_type(problem.compute)) {}

    // cuBLAS is column-major: the row-major C is its transpose, C^T = op(B)^T op(A)^T, and a row-major matrix read by columns is
    // already transposed. So A and B change places, m and n too, and the operations stay.
    void enqueue(const GemmCall& call, Stream stream) override {
        session_->use(stream);
        const CublasLibrary& library = session_->library;
        if (p_.type_a == ElementType::f64)
            multiply_as<double>(call, Named{library.dgemm, "cublasDgemm"},
                                Named{library.dgemm_strided_batched, "cublasDgemmStridedBatched"});
        else if (p_.type_a == ElementType::f32 && p_.compute != ComputeMode::tf32)
            multiply_as<float>(call, Named{library.sgemm, "cublasSgemm"},
                               Named{library.sgemm_strided_batched, "cublasSgemmStridedBatched"});
        else
            multiply_typed(call);
    }
    std::int64_t workspace_bytes() const override { return static_cast<std::int64_t>(session_->workspace.bytes()); }

    void forget_streams() override { session_->has_stream = false; }

private:
    template <class Call>
    struct Named {
        Call call;
        const char* name;
    };
    // The functions of one type, for one product and for a batch.
    template <class T, class Gemm, class Batched>
    void multiply_as(const GemmCall& call, const Named<Gemm>& gemm, const Named<Batched>& batched) const {
        const auto alpha = static_cast<T>(call.alpha);
        const auto beta = static_cast<T>(call.beta);
        const auto* a = static_cast<const T*>(call.a);
        const auto* b = static_cast<const T*>(call.b);
        auto* c = static_cast<T*>(call.c);
        if (p_.batch == 1)
            check_cublas(gemm.call(session_->handle, first_op_, second_op_, n_, m_, k_, &alpha, b, ldb_, a, lda_, &beta, c, ldc_),
                         gemm.name);
        else
            check_cublas(batched.call(session_->handle, first_op_, second_op_, n_, m_, k_, &alpha, b, ldb_, p_.stride_b, a, lda_,
                                      p_.stride_a, &beta, c, ldc_, p_.stride_c, batch_),
                         batched.name);
    }
    void multiply_typed(const GemmCall& call) const {
        const CallScalar alpha(p_.compute, call.alpha);
        const CallScalar beta(p_.compute, call.beta);
        const CublasLibrary& library = session_->library;
        if (p_.batch == 1)
            check_cublas(library.gemm_ex(session_->handle, first_op_, second_op_, n_, m_, k_, alpha.address(), call.b, type_b_, ldb_,
                                         call.a, type_a_, lda_, beta.address(), call.c, type_c_, ldc_, compute_, kCublasGemmDefault),
                         "cublasGemmEx");
        else
            check_cublas(library.gemm_strided_batched_ex(session_->handle, first_op_, second_op_, n_, m_, k_, alpha.address(), call.b,
                                                         type_b_, ldb_, p_.stride_b, call.a, type_a_, lda_, p_.stride_a, beta.address(),
                                                         call.c, type_c_, ldc_, p_.stride_c, batch_, compute_, kCublasGemmDefault),
                         "cublasGemmStridedBatchedEx");
    }

    std::shared_ptr<CublasSession> session_;
    GemmProblem p_;
    int first_op_;
    int second_op_;
    int m_;
    int n_;
    int k_;
    int batch_;
    int lda_;
    int ldb_;
    int ldc_;
    int type_a_;
    int type_b_;
    int type_c_;
    int compute_;
};

class CublasPeer final : public Peer {
public:
    CublasPeer(std::shared_ptr<Device> device, const PeerOptions& options)
        : session_(std::make_shared<CublasSession>(device, options)), epilogues_(std::move(device)) {}

    std::string name() const override { return "cublas"; }
    std::string version() const override {
        int version = 0;
        session_->library.get_version(session_->handle, &version);
        return fmt::format("cuBLAS {} ({})", version, session_->library.file_name);
    }

    std::vector<std::unique_ptr<Contestant>> offers(const GemmProblem& problem) override {
        if (problem.type_a != problem.type_b) throw std::runtime_error("cuBLAS takes A and B of one type");
        for (const ElementType type : {ElementType::f32, ElementType::f64})
            if (problem.type_a == type && problem.type_c != type)
                throw std::runtime_error(fmt::format("cuBLAS multiplies {0} into {0} only", name_of(type)));
        for (const i64 extent : {problem.m, problem.n, problem.k, problem.batch, problem.lda, problem.ldb, plain_product(problem).ldc})
            if (extent > std::numeric_limits<int>::max()) throw std::runtime_error("cuBLAS takes sizes below 2^31");
        std::vector<std::unique_ptr<Contestant>> found;
        found.push_back(std::make_unique<CublasContestant>(session_, plain_product(problem)));
        if (problem.epilogue == Epilogue::none) return found;
        return epilogues_.behind(std::move(found), problem);
    }

private:
    std::shared_ptr<CublasSession> session_;
    SeparateEpilogues epilogues_;
};

}  // namespace

std::unique_ptr<Peer> make_cublas_peer(std::shared_ptr<Device> device, const PeerOptions& options) {
    return std::make_unique<CublasPeer>(std::move(device), options);
}

}  // namespace tmm::bench
