// cuBLASLt with all that its heuristics offer: each of the first 48 is a contestant of its own. An epilogue is its own where it has that
// one, and in any case an elementwise kernel behind the product.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "bench/peers/cublas_library.h"
#include "bench/peers/cublaslt_epilogue.h"
#include "bench/peers/peers.h"
#include "bench/peers/plain_product.h"
#include "bench/peers/separate_epilogue.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::bench {
namespace {

// Bytes that the heuristics may count on.
struct LtAlignment {
    std::uint32_t a;
    std::uint32_t b;
    // The matrix that is read, and the one that is written.
    std::uint32_t c;
    std::uint32_t d;
    friend bool operator==(const LtAlignment&, const LtAlignment&) = default;
};

// The alignment of the matrices' first elements: from 16 on the operands are multiples of 256, which is cuBLASLt's own default.
LtAlignment pointer_alignment(const GemmProblem& p) {
    const auto bytes = [&](ElementType type) {
        return p.alignment < 16 ? static_cast<std::uint32_t>(std::max(p.alignment, size_of(type))) : 256;
    };
    return {.a = bytes(p.type_a), .b = bytes(p.type_b), .c = bytes(p.type_c), .d = bytes(p.type_c)};
}

// The alignment of all rows, where some start at no multiple of 16 bytes.
LtAlignment row_alignment(const GemmProblem& p) {
    const KernelSignature signature = signature_of(p);
    const auto counted = [](int bytes) { return bytes < 16 ? static_cast<std::uint32_t>(bytes) : 256; };
    return {.a = counted(signature.align_a),
            .b = counted(signature.align_b),
            .c = counted(p.residual ? signature.align_residual : signature.align_c),
            .d = counted(signature.align_c)};
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
    // own: what cuBLASLt makes of the problem's epilogue, or of none for its plain product.
    LtProblem(std::shared_ptr<LtSession> session, const GemmProblem& p, const LtEpilogue& own)
        : session_(std::move(session)), compute_(p.compute), epilogue_(own) {
        try {
            const CublasLtLibrary& library = session_->library;
            check_cublas(library.desc_create(&desc_, cublas_compute_type(p.compute), cublas_scale_type(p.compute)),
                         "cublasLtMatmulDescCreate");
            set_operation(kDescTransA, p.op_b);
            set_operation(kDescTransB, p.op_a);
            first_ = make_layout(p.type_b, stored_columns_b(p), stored_rows_b(p), p.ldb, p.batch, p.stride_b);
            second_ = make_layout(p.type_a, stored_columns_a(p), stored_rows_a(p), p.lda, p.batch, p.stride_a);
            result_ = make_layout(p.type_c, p.n, p.m, p.ldc, p.batch, p.stride_c);
            if (own.residual_as_c) residual_ = make_layout(p.type_c, p.n, p.m, p.ldr, p.batch, p.stride_r);
            set_epilogue(p);
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
                                                            {kPreferenceAlignmentD, alignment.d}};
        for (const auto& [attribute, bytes] : alignments)
            if (status == kCublasSuccess) status = library.preference_set(preference, attribute, &bytes, sizeof bytes);
        std::vector<CublasLtHeuristic> found(static_cast<std::size_t>(most));
        int returned = 0;
        if (status == kCublasSuccess)
            status =
                library.heuristics(session_->handle, desc_, first_, second_, read(), result_, preference, most, found.data(), &returned);
        library.preference_destroy(preference);
        check_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
        found.resize(static_cast<std::size_t>(returned));
        std::erase_if(found, [](const CublasLtHeuristic& heuristic) { return heuristic.state != kCublasSuccess; });
        return found;
    }

    void multiply(const CublasLtHeuristic& heuristic, const GemmCall& call, Stream stream) const {
        const CallScalar alpha(compute_, call.alpha);
        const CallScalar beta(compute_, epilogue_.residual_as_c ? 1 : call.beta);
        const void* c = epilogue_.residual_as_c ? call.residual : call.c;
        if (epilogue_.has_bias) set(kDescBiasPointer, call.bias);
        check_cublas(
            session_->library.matmul(session_->handle, desc_, alpha.address(), call.b, first_, call.a, second_, beta.address(), c, read(),
                                     call.c, result_, &heuristic.algo, session_->workspace.data(), session_->workspace.bytes(), stream),
            "cublasLtMatmul");
    }

private:
    template <class Value>
    void set(int attribute, const Value& value) const {
        check_cublas(session_->library.desc_set(desc_, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
    }
    void set_operation(int attribute, Operation op) const { set(attribute, std::int32_t{op == Operation::none ? kCublasOpN : kCublasOpT}); }
    void set_epilogue(const GemmProblem& p) const {
        if (epilogue_.value == kLtEpilogueDefault) return;
        set(kDescEpilogue, epilogue_.value);
        if (!epilogue_.has_bias) return;
        if (p.type_bias != p.type_c) set(kDescBiasType, std::int32_t{cuda_type(p.type_bias)});
        // Heuristics look at a pointer's alignment: this one has that of the calls' own.
        const auto misalignment = static_cast<std::ptrdiff_t>(p.alignment < 16 ? std::max(p.alignment, size_of(p.type_bias)) : 0);
        set(kDescBiasPointer, static_cast<const void*>(static_cast<const std::byte*>(session_->workspace.data()) + misalignment));
    }
    // The layout of the matrix C.
    CublasLtLayout read() const { return residual_ ? residual_ : result_; }
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
        for (CublasLtLayout layout : {first_, second_, result_, residual_})
            if (layout) library.layout_destroy(layout);
        if (desc_) library.desc_destroy(desc_);
    }

    std::shared_ptr<LtSession> session_;
    ComputeMode compute_;
    LtEpilogue epilogue_;
    CublasLtDesc desc_ = nullptr;
    CublasLtLayout first_ = nullptr;
    CublasLtLayout second_ = nullptr;
    CublasLtLayout result_ = nullptr;
    // Null where C holds what beta multiplies, in the result's place.
    CublasLtLayout residual_ = nullptr;
};

class LtContestant final : public Contestant {
public:
    LtContestant(std::shared_ptr<const LtProblem> problem, const CublasLtHeuristic& heuristic, std::string detail)
        : problem_(std::move(problem)), heuristic_(heuristic), detail_(std::move(detail)) {}

    void enqueue(const GemmCall& call, Stream stream) override { problem_->multiply(heuristic_, call, stream); }
    std::int64_t workspace_bytes() const override { return static_cast<std::int64_t>(heuristic_.workspace_bytes); }
    std::string detail() const override { return detail_; }

private:
    std::shared_ptr<const LtProblem> problem_;
    CublasLtHeuristic heuristic_;
    std::string detail_;
};

class LtPeer final : public Peer {
public:
    LtPeer(std::shared_ptr<Device> device, const PeerOptions& options)
        : session_(std::make_shared<LtSession>(device, options)), heuristics_(options.heuristics), epilogues_(std::move(device)) {}

    std::string name() const override { return "cublaslt"; }
    std::string version() const override {
        return fmt::format("cuBLASLt {} ({})", session_->library.get_version(), session_->library.file_name);
    }

    std::vector<std::unique_ptr<Contestant>> offers(const GemmProblem& problem) override {
        if (problem.batch > std::numeric_limits<std::int32_t>::max()) throw std::runtime_error("cuBLASLt takes fewer than 2^31 matrices");
        if (problem.epilogue == Epilogue::none) return contestants(problem, {}, "");
        std::vector<std::unique_ptr<Contestant>> found = with_own_epilogue(problem);
        for (auto& one : epilogues_.behind(contestants(plain_product(problem), {}, ""), problem)) found.push_back(std::move(one));
        return found;
    }

private:
    // Throws std::runtime_error where the heuristics offer nothing. suffix: what is said of each beside its rank.
    std::vector<std::unique_ptr<Contestant>> contestants(const GemmProblem& problem, const LtEpilogue& own, const char* suffix) const {
        const auto lt_problem = std::make_shared<const LtProblem>(session_, problem, own);
        std::vector<std::unique_ptr<Contestant>> found;
        for (const CublasLtHeuristic& heuristic : all_heuristics(*lt_problem, problem))
            found.push_back(std::make_unique<LtContestant>(lt_problem, heuristic, fmt::format("heuristic {}{}", found.size(), suffix)));
        if (found.empty()) throw std::runtime_error("cuBLASLt's heuristics offer nothing");
        return found;
    }
    // Empty where cuBLASLt has no such epilogue, or none for the problem's types.
    std::vector<std::unique_ptr<Contestant>> with_own_epilogue(const GemmProblem& problem) const {
        const std::optional<LtEpilogue> own = own_epilogue(problem);
        if (!own) return {};
        try {
            return contestants(problem, *own, ", own epilogue");
        } catch (const std::runtime_error&) {
            return {};
        }
    }
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
    SeparateEpilogues epilogues_;
};

}  // namespace

std::unique_ptr<Peer> make_cublaslt_peer(std::shared_ptr<Device> device, const PeerOptions& options) {
    return std::make_unique<LtPeer>(std::move(device), options);
}

}  // namespace tmm::bench
