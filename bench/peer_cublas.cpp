// cuBLAS as a program gets it that makes one handle and calls cublasSgemm: default math, with the workspace it asks for.
#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "bench/cublas_library.h"
#include "bench/peers.h"

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
    void use_math(int next) {
        if (math == next) return;
        check_cublas(library.set_math_mode(handle, next), "cublasSetMathMode");
        math = next;
    }

    CublasLibrary library;
    DeviceBuffer workspace;
    CublasHandle handle = nullptr;
    Stream stream = nullptr;
    bool has_stream = false;
    int math = kCublasDefaultMath;
};

int operation(Operation op) {
    return op == Operation::none ? kCublasOpN : kCublasOpT;
}

class CublasContestant final : public Contestant {
public:
    CublasContestant(std::shared_ptr<CublasSession> session, const GemmProblem& problem) : session_(std::move(session)), p_(problem) {}

    // cuBLAS is column-major: the row-major C is its transpose, C^T = op(B)^T op(A)^T, and a row-major matrix read by columns is
    // already transposed. So A and B change places, m and n too, and the operations stay.
    void enqueue(const GemmCall& call, Stream stream) override {
        session_->use(stream);
        session_->use_math(p_.compute == ComputeMode::tf32 ? kCublasTf32Math : kCublasDefaultMath);
        const auto alpha = static_cast<float>(call.alpha);
        const auto beta = static_cast<float>(call.beta);
        const auto* a = static_cast<const float*>(call.a);
        const auto* b = static_cast<const float*>(call.b);
        auto* c = static_cast<float*>(call.c);
        const int m = static_cast<int>(p_.m);
        const int n = static_cast<int>(p_.n);
        const int k = static_cast<int>(p_.k);
        const int lda = static_cast<int>(p_.lda);
        const int ldb = static_cast<int>(p_.ldb);
        const int ldc = static_cast<int>(p_.ldc);
        if (p_.batch == 1)
            check_cublas(session_->library.sgemm(session_->handle, operation(p_.op_b), operation(p_.op_a), n, m, k, &alpha, b, ldb, a, lda,
                                                 &beta, c, ldc),
                         "cublasSgemm");
        else
            check_cublas(session_->library.sgemm_strided_batched(session_->handle, operation(p_.op_b), operation(p_.op_a), n, m, k, &alpha,
                                                                 b, ldb, p_.stride_b, a, lda, p_.stride_a, &beta, c, ldc, p_.stride_c,
                                                                 static_cast<int>(p_.batch)),
                         "cublasSgemmStridedBatched");
    }
    std::int64_t workspace_bytes() const override { return static_cast<std::int64_t>(session_->workspace.bytes()); }

    // The stream of a recording dies with it, and a later one may have its address.
    std::unique_ptr<Replay> record(Device& device, const std::vector<GemmCall>& calls) override {
        session_->has_stream = false;
        auto replay = Contestant::record(device, calls);
        session_->has_stream = false;
        return replay;
    }

private:
    std::shared_ptr<CublasSession> session_;
    GemmProblem p_;
};

class CublasPeer final : public Peer {
public:
    CublasPeer(std::shared_ptr<Device> device, const PeerOptions& options)
        : session_(std::make_shared<CublasSession>(std::move(device), options)) {}

    std::string name() const override { return "cublas"; }
    std::string version() const override {
        int version = 0;
        session_->library.get_version(session_->handle, &version);
        return fmt::format("cuBLAS {} ({})", version, session_->library.file_name);
    }

    std::vector<std::unique_ptr<Contestant>> offers(const GemmProblem& problem) override {
        if (problem.type_a != ElementType::f32 || problem.type_b != ElementType::f32 || problem.type_c != ElementType::f32)
            throw std::runtime_error("cublasSgemm takes f32 matrices");
        for (const i64 extent : {problem.m, problem.n, problem.k, problem.batch, problem.lda, problem.ldb, problem.ldc})
            if (extent > std::numeric_limits<int>::max()) throw std::runtime_error("cublasSgemm takes sizes below 2^31");
        std::vector<std::unique_ptr<Contestant>> found;
        found.push_back(std::make_unique<CublasContestant>(session_, problem));
        return found;
    }

private:
    std::shared_ptr<CublasSession> session_;
};

}  // namespace

std::unique_ptr<Peer> make_cublas_peer(std::shared_ptr<Device> device, const PeerOptions& options) {
    return std::make_unique<CublasPeer>(std::move(device), options);
}

}  // namespace tmm::bench
