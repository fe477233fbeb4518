// The plans of the problems that a handle has seen.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "runtime/plan/plan.h"
#include "runtime/select/plan_request.h"

namespace tmm {

// Thread-safe.
class PlanCache {
public:
    // Sizes that vary make thousands of problems. The plans of the first ones stay, and are found without a lock. Of those that come later,
    // the least recently used beyond this many are dropped.
    static constexpr std::size_t kStaying = 8192;
    static constexpr std::size_t kDroppable = 8192;
    // A program may write values into the text of expressions, each of which is a kernel of its own: none of their plans stays.
    static constexpr std::size_t kExpressions = 64;

    PlanCache() = default;
    ~PlanCache();
    PlanCache(const PlanCache&) = delete;
    PlanCache& operator=(const PlanCache&) = delete;

    // The result is null where there is none. Nothing is allocated.
    std::shared_ptr<const RuntimePlan> find(const PlanRequest& key);
    // Returns the plan that is kept, which is the one before where the problem has one.
    std::shared_ptr<const RuntimePlan> add(const PlanRequest& key, std::shared_ptr<const RuntimePlan> plan);

private:
    struct Staying {
        const PlanRequest key;
        const std::shared_ptr<const RuntimePlan> plan;
        Staying* const next;
    };

    // Plans of which the least recently used are dropped.
    class Droppable {
    public:
        explicit Droppable(std::size_t most) : most_(most) {}
        std::shared_ptr<const RuntimePlan> find(const PlanRequest& key);
        std::shared_ptr<const RuntimePlan> add(const PlanRequest& key, std::shared_ptr<const RuntimePlan> plan);

    private:
        using Entry = std::pair<PlanRequest, std::shared_ptr<const RuntimePlan>>;

        std::size_t most_;
        // The most recently used plans come first.
        std::list<Entry> plans_;
        std::unordered_map<PlanRequest, std::list<Entry>::iterator, PlanRequestHash> index_;
    };

    // Each bucket is a list to whose front entries are added under the lock.
    std::array<std::atomic<Staying*>, kStaying> staying_{};
    std::atomic<std::size_t> staying_count_ = 0;
    std::mutex mutex_;
    Droppable droppable_{kDroppable};
    Droppable expressions_{kExpressions};
};

}  // namespace tmm
