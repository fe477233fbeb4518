#include "runtime/plan_cache.h"

namespace tmm {

PlanCache::~PlanCache() {
    for (const std::atomic<Staying*>& bucket : staying_)
        for (const Staying* entry = bucket.load(std::memory_order_relaxed); entry;) delete std::exchange(entry, entry->next);
}

std::shared_ptr<const RuntimePlan> PlanCache::find(const PlanRequest& key) {
    const std::atomic<Staying*>& bucket = staying_[PlanRequestHash()(key) % kStaying];
    for (const Staying* entry = bucket.load(std::memory_order_acquire); entry; entry = entry->next)
        if (entry->key == key) return entry->plan;
    if (staying_count_.load(std::memory_order_acquire) < kStaying) return nullptr;
    const std::lock_guard lock(mutex_);
    return find_droppable(key);
}

std::shared_ptr<const RuntimePlan> PlanCache::find_droppable(const PlanRequest& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    droppable_.splice(droppable_.begin(), droppable_, found->second);
    return found->second->second;
}

std::shared_ptr<const RuntimePlan> PlanCache::add(const PlanRequest& key, std::shared_ptr<const RuntimePlan> plan) {
    const std::lock_guard lock(mutex_);
    std::atomic<Staying*>& bucket = staying_[PlanRequestHash()(key) % kStaying];
    Staying* const first = bucket.load(std::memory_order_relaxed);
    for (const Staying* entry = first; entry; entry = entry->next)
        if (entry->key == key) return entry->plan;
    if (staying_count_.load(std::memory_order_relaxed) < kStaying) {
        bucket.store(new Staying{.key = key, .plan = plan, .next = first}, std::memory_order_release);
        staying_count_.fetch_add(1, std::memory_order_release);
        return plan;
    }
    if (std::shared_ptr<const RuntimePlan> before = find_droppable(key)) return before;
    droppable_.emplace_front(key, plan);
    index_.emplace(key, droppable_.begin());
    if (droppable_.size() > kDroppable) {
        index_.erase(droppable_.back().first);
        droppable_.pop_back();
    }
    return plan;
}

}  // namespace tmm
