// Who multiplies the products of each problem, found without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/dropin/cublas/product.h"

namespace tmm::dropin {

// A problem as it is compared.
struct ProblemKey {
    explicit ProblemKey(const tmmGemmProblem_t& problem) noexcept;
    std::uint64_t hash() const noexcept;
    friend bool operator==(const ProblemKey&, const ProblemKey&) = default;

    std::array<std::int64_t, 11> numbers;
    std::uint64_t kinds;
};

// A plan of tmm's, ready to run. Never destroyed: other threads and graphs may be using it.
struct ReadyPlan {
    tmmPlan_t plan = nullptr;
    std::size_t workspace = 0;
    std::string config;
};

struct RacedShape;

struct Decision {
    enum class Who { undecided, tmm, cublas };

    explicit Decision(const ProblemKey& its_key) noexcept : key(its_key) {}

    const ProblemKey key;
    std::atomic<Who> who = Who::undecided;
    // It is there where tmm multiplies.
    std::atomic<const ReadyPlan*> plan = nullptr;
    // Null where nothing is being chosen, compiled or timed.
    std::atomic<RacedShape*> race = nullptr;
    Decision* next = nullptr;

    // For the table at the program's end.
    std::atomic<std::int64_t> calls_by_tmm = 0;
    std::atomic<std::int64_t> calls_by_cublas = 0;
    std::atomic<double> us_of_tmm = 0;
    std::atomic<double> us_of_cublas = 0;
};

// Thread-safe. Decisions are never removed.
class ProblemTable {
public:
    // A program of more problems than these has the rest multiplied by cuBLAS.
    static constexpr std::size_t kMost = 1 << 16;

    // Adds one that is undecided where there is none. Null where the table is full or memory short.
    Decision* find(const tmmGemmProblem_t& problem) noexcept;

private:
    std::array<std::atomic<Decision*>, 4096> buckets_{};
    std::atomic<std::size_t> count_ = 0;
};

}  // namespace tmm::dropin
