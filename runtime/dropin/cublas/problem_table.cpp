#include "runtime/dropin/cublas/problem_table.h"

#include <bit>
#include <new>

namespace tmm::dropin {

namespace {

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;

// Products of cuBLAS have no other epilogues than these.
std::int64_t epilogue_of(const tmmGemmProblem_t& p) {
    return p.has_bias ? p.activation << 16 | p.type_bias << 8 | 1 : p.activation << 16;
}

}  // namespace

ProblemKey::ProblemKey(const tmmGemmProblem_t& p) noexcept
    : numbers{p.m, p.n, p.k, p.batch, p.lda, p.ldb, p.ldc, p.stride_a, p.stride_b, p.stride_c, epilogue_of(p)}, kinds(0) {
    // Each has fewer than 256 values.
    for (const int kind : {static_cast<int>(p.op_a), static_cast<int>(p.op_b), static_cast<int>(p.type_a), static_cast<int>(p.type_c),
                           static_cast<int>(p.compute), p.alignment, p.reads_c | p.pointer_array << 1 | static_cast<int>(p.result) << 2})
        kinds = kinds << 8 | static_cast<std::uint64_t>(kind & 255);
}

std::uint64_t ProblemKey::hash() const noexcept {
    // The products do not wait for each other.
    std::uint64_t hash = kinds * kOdd;
    std::uint64_t factor = kOdd;
    for (const std::int64_t number : numbers) {
        factor += kOdd << 1;
        hash += std::rotl(static_cast<std::uint64_t>(number) * factor, 29);
    }
    hash ^= hash >> 32;
    hash *= kOdd;
    return hash ^ hash >> 32;
}

Decision* ProblemTable::find(const tmmGemmProblem_t& problem) noexcept {
    const ProblemKey key(problem);
    std::atomic<Decision*>& bucket = buckets_[key.hash() % buckets_.size()];
    Decision* first = bucket.load(std::memory_order_acquire);
    for (Decision* decision = first; decision; decision = decision->next)
        if (decision->key == key) return decision;
    if (count_.load(std::memory_order_relaxed) >= kMost) return nullptr;
    auto* const added = new (std::nothrow) Decision(key);
    if (!added) return nullptr;
    count_.fetch_add(1, std::memory_order_relaxed);
    added->next = first;
    while (!bucket.compare_exchange_weak(added->next, added, std::memory_order_acq_rel, std::memory_order_acquire)) {
        // Another thread has added some meanwhile, perhaps this very problem.
        for (Decision* decision = added->next; decision != first; decision = decision->next) {
            if (decision->key != key) continue;
            delete added;
            count_.fetch_sub(1, std::memory_order_relaxed);
            return decision;
        }
        first = added->next;
    }
    return added;
}

}  // namespace tmm::dropin
