// cuBLASLt with all that its heuristics offer: each of the first 48 is a contestant of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "bench/cublas_library.h"
#include "bench/peers.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::bench {
namespace {

// Bytes that the heuristics may count on.
struct LtAlignment {
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t c;
    friend bool operator==(const LtAlignment&, const LtAlignment&) = default;
};

// The alignment of the matrices' first elements: from 16 on the operands are multiples of 256, which is cuBLASLt's own default.
LtAlignment pointer_alignment(const GemmProblem& p) {
    const auto bytes = [&](ElementType type) {
        return p.alignment < 16 ? static_cast<std::uint32_t>(std::max(p.alignment, size_of(type))) : 256;
    };
    return {.a = bytes(p.type_a), .b = bytes(p.type_b), .c = bytes(p.type_c)};
}

// The alignment of all rows, where some start at no multiple of 16 bytes.
LtAlignment row_alignment(const GemmProblem& p) {
    const KernelSignature signature = signature_of(p);
    const auto counted = [](int bytes) { return bytes < 16 ? static_cast<std::uint32_t>(bytes) : 256; };
    return {.a = counted(signature.align_a), .b = counted(signature.align_b), .c = counted(signature.align_c)};
}

struct LtSession {
    LtSession(std::shared_ptr<Device> device, const PeerOptions& options)
        : library(open_cublaslt(options.cublas_directory)),
          workspace(std::move(device), static_cast<std::size_t>(options.workspace_bytes)) {
        check_cublas(library.create(&handle), "cublasLtCreate");
    }
    LtSession(const LtSession&) = delete;
    LtSession& operator=(const LtSession&) = delete;
    ~LtSession() { library.destroy(handle); }

    CublasLtLibrary library;
    DeviceBuffer workspace;
    CublasLtHandle handle = nullptr;
};

// A problem in cuBLASLt's descriptors, shared by its heuristics. It is column-major, so that A and B change places (peer_cublas.cpp).
class LtProblem {
public:
    LtProblem(std::shared_ptr<LtSession> session, const GemmProblem& p) : session_(std::move(session)) {
        try {
            const CublasLtLibrary& library = session_->library;
            check_cublas(library.desc_create(&desc_, cublas_compute_type(p.compute), kCudaR32f), "cublasLtMatmulDescCreate");
            set_operation(kDescTransA, p.op_b);
            set_operation(kDescTransB, p.op_a);
            first_ = make_layout(p.type_b, stored_columns_b(p), stored_rows_b(p), p.ldb, p.batch, p.stride_b);
            second_ = make_layout(p.type_a, stored_columns_a(p), stored_rows_a(p), p.lda, p.batch, p.stride_a);
            result_ = make_layout(p.type_c, p.n, p.m, p.ldc, p.batch, p.stride_c);
        } catch (...) {
            release();
            throw;
        }
    }
    LtProblem(const LtProblem&) = delete;
    LtProblem& operator=(const LtProblem&) = delete;
    ~LtProblem() { release(); }

    std::vector<CublasLtHeuristic> heuristics(int most, const LtAlignment& alignment) const {
        const CublasLtLibrary& library = session_->library;
        CublasLtPreference preference = nullptr;
        check_cublas(library.preference_create(&preference), "cublasLtMatmulPreferenceCreate");
        const std::uint64_t workspace = session_->workspace.bytes();
        CublasStatus status = library.preference_set(preference, kPreferenceWorkspace, &workspace, sizeof workspace);
        // A and B change places.
        const std::pair<int, std::uint32_t> alignments[] = {{kPreferenceAlignmentA, alignment.b},
                                                            {kPreferenceAlignmentB, alignment.a},
                                                            {kPreferenceAlignmentC, alignment.c},
                                                            {kPreferenceAlignmentD, alignment.c}};
        for (const auto& [attribute, bytes] : alignments)
            if (status == kCublasSuccess) status = library.preference_set(preference, attribute, &bytes, sizeof bytes);
        std::vector<CublasLtHeuristic> found(static_cast<std::size_t>(most));
        int returned = 0;
        if (status == kCublasSuccess)
            status =
                library.heuristics(session_->handle, desc_, first_, second_, result_, result_, preference, most, found.data(), &returned);
        library.preference_destroy(preference);
        check_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
        found.resize(static_cast<std::size_t>(returned));
        std::erase_if(found, [](const CublasLtHeuristic& heuristic) { return heuristic.state != kCublasSuccess; });
        return found;
    }

    void multiply(const CublasLtHeuristic& heuristic, const GemmCall& call, Stream stream) const {
        const auto alpha = static_cast<float>(call.alpha);
        const auto beta = static_cast<float>(call.beta);
        check_cublas(
            session_->library.matmul(session_->handle, desc_, &alpha, call.b, first_, call.a, second_, &beta, call.c, result_, call.c,
                                     result_, &heuristic.algo, session_->workspace.data(), session_->workspace.bytes(), stream),
            "cublasLtMatmul");
    }

private:
    void set_operation(int attribute, Operation op) const {
        const std::int32_t value = op == Operation::none ? kCublasOpN : kCublasOpT;
        check_cublas(session_->library.desc_set(desc_, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
    }
    CublasLtLayout make_layout(ElementType type, i64 rows, i64 columns, i64 ld, i64 batch, i64 stride) const {
        const CublasLtLibrary& library = session_->library;
        CublasLtLayout layout = nullptr;
        check_cublas(
            library.layout_create(&layout, cuda_type(type), static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), ld),
            "cublasLtMatrixLayoutCreate");
        if (batch == 1) return layout;
        const auto count = static_cast<std::int32_t>(batch);
        const std::int64_t distance = stride;
        CublasStatus status = library.layout_set(layout, kLayoutBatchCount, &count, sizeof count);
        if (status == kCublasSuccess) status = library.layout_set(layout, kLayoutBatchStride, &distance, sizeof distance);
        if (status != kCublasSuccess) library.layout_destroy(layout);
        check_cublas(status, "cublasLtMatrixLayoutSetAttribute");
        return layout;
    }
    void release() noexcept {
        const CublasLtLibrary& library = session_->library;
        for (CublasLtLayout layout : {first_, second_, result_})
            if (layout) library.layout_destroy(layout);
        if (desc_) library.desc_destroy(desc_);
    }

    std::shared_ptr<LtSession> session_;
    CublasLtDesc desc_ = nullptr;
    CublasLtLayout first_ = nullptr;
    CublasLtLayout second_ = nullptr;
    CublasLtLayout result_ = nullptr;
};

class LtContestant final : public Contestant {
public:
    LtContestant(std::shared_ptr<const LtProblem> problem, const CublasLtHeuristic& heuristic, std::size_t rank)
        : problem_(std::move(problem)), heuristic_(heuristic), rank_(rank) {}

    void enqueue(const GemmCall& call, Stream stream) override { problem_->multiply(heuristic_, call, stream); }
    std::int64_t workspace_bytes() const override { return static_cast<std::int64_t>(heuristic_.workspace_bytes); }
    std::string detail() const override { return fmt::format("heuristic {}", rank_); }

private:
    std::shared_ptr<const LtProblem> problem_;
    CublasLtHeuristic heuristic_;
    std::size_t rank_;
};

class LtPeer final : public Peer {
public:
    LtPeer(std::shared_ptr<Device> device, const PeerOptions& options)
        : session_(std::make_shared<LtSession>(std::move(device), options)), heuristics_(options.heuristics) {}

    std::string name() const override { return "cublaslt"; }
    std::string version() const override {
        return fmt::format("cuBLASLt {} ({})", session_->library.get_version(), session_->library.file_name);
    }

    std::vector<std::unique_ptr<Contestant>> offers(const GemmProblem& problem) override {
        if (problem.batch > std::numeric_limits<std::int32_t>::max()) throw std::runtime_error("cuBLASLt takes fewer than 2^31 matrices");
        const auto lt_problem = std::make_shared<const LtProblem>(session_, problem);
        std::vector<std::unique_ptr<Contestant>> found;
        for (const CublasLtHeuristic& heuristic : all_heuristics(*lt_problem, problem))
            found.push_back(std::make_unique<LtContestant>(lt_problem, heuristic, found.size()));
        if (found.empty()) throw std::runtime_error("cuBLASLt's heuristics offer nothing");
        return found;
    }

private:
    // The first heuristics for the alignment of the pointers. Where rows are aligned to less, the first ones for that are added: the
    // library may rank others higher, and the peer is the fastest of all.
    std::vector<CublasLtHeuristic> all_heuristics(const LtProblem& lt_problem, const GemmProblem& problem) const {
        std::vector<CublasLtHeuristic> all = lt_problem.heuristics(heuristics_, pointer_alignment(problem));
        if (row_alignment(problem) == pointer_alignment(problem)) return all;
        std::vector<CublasLtHeuristic> more;
        try {
            more = lt_problem.heuristics(heuristics_, row_alignment(problem));
        } catch (const std::runtime_error&) {
            if (all.empty()) throw;
        }
        for (const CublasLtHeuristic& one : more) {
            const auto equal = [&one](const CublasLtHeuristic& other) { return std::memcmp(&one.algo, &other.algo, sizeof one.algo) == 0; };
            if (std::none_of(all.begin(), all.end(), equal)) all.push_back(one);
        }
        return all;
    }

    std::shared_ptr<LtSession> session_;
    int heuristics_;
};

}  // namespace

std::unique_ptr<Peer> make_cublaslt_peer(std::shared_ptr<Device> device, const PeerOptions& options) {
    return std::make_unique<LtPeer>(std::move(device), options);
}

}  // namespace tmm::bench
