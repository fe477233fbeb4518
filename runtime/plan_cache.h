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

#include "runtime/plan.h"
#include "runtime/plan_request.h"

namespace tmm {

// Thread-safe.
class PlanCache {
public:
    // Sizes that vary make thousands of problems. The plans of the first ones stay, and are found without a lock. Of those that come later,
    // the least recently used beyond this many are dropped.
    static constexpr std::size_t kStaying = 8192;
    static constexpr std::size_t kDroppable = 8192;

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
    using Droppable = std::pair<PlanRequest, std::shared_ptr<const RuntimePlan>>;

    std::shared_ptr<const RuntimePlan> find_droppable(const PlanRequest& key);

    // Each bucket is a list to whose front entries are added under the lock.
    std::array<std::atomic<Staying*>, kStaying> staying_{};
    std::atomic<std::size_t> staying_count_ = 0;
    std::mutex mutex_;
    // The most recently used plans come first.
    std::list<Droppable> droppable_;
    std::unordered_map<PlanRequest, std::list<Droppable>::iterator, PlanRequestHash> index_;
};

}  // namespace tmm
