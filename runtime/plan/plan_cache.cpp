#include "runtime/plan/plan_cache.h"

namespace tmm {

PlanCache::~PlanCache() {
    for (const std::atomic<Staying*>& bucket : staying_)
        for (const Staying* entry = bucket.load(std::memory_order_relaxed); entry;) delete std::exchange(entry, entry->next);
}

std::shared_ptr<const RuntimePlan> PlanCache::Droppable::find(const PlanRequest& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    plans_.splice(plans_.begin(), plans_, found->second);
    return found->second->second;
}

std::shared_ptr<const RuntimePlan> PlanCache::Droppable::add(const PlanRequest& key, std::shared_ptr<const RuntimePlan> plan) {
    if (std::shared_ptr<const RuntimePlan> before = find(key)) return before;
    plans_.emplace_front(key, plan);
    index_.emplace(key, plans_.begin());
    if (plans_.size() > most_) {
        index_.erase(plans_.back().first);
        plans_.pop_back();
    }
    return plan;
}

std::shared_ptr<const RuntimePlan> PlanCache::find(const PlanRequest& key) {
    if (key.problem.epilogue == Epilogue::custom) {
        const std::lock_guard lock(mutex_);
        return expressions_.find(key);
    }
    const std::atomic<Staying*>& bucket = staying_[PlanRequestHash()(key) % kStaying];
    for (const Staying* entry = bucket.load(std::memory_order_acquire); entry; entry = entry->next)
        if (entry->key == key) return entry->plan;
    if (staying_count_.load(std::memory_order_acquire) < kStaying) return nullptr;
    const std::lock_guard lock(mutex_);
    return droppable_.find(key);
}

std::shared_ptr<const RuntimePlan> PlanCache::add(const PlanRequest& key, std::shared_ptr<const RuntimePlan> plan) {
    const std::lock_guard lock(mutex_);
    if (key.problem.epilogue == Epilogue::custom) return expressions_.add(key, std::move(plan));
    std::atomic<Staying*>& bucket = staying_[PlanRequestHash()(key) % kStaying];
    Staying* const first = bucket.load(std::memory_order_relaxed);
    for (const Staying* entry = first; entry; entry = entry->next)
        if (entry->key == key) return entry->plan;
    if (staying_count_.load(std::memory_order_relaxed) >= kStaying) return droppable_.add(key, std::move(plan));
    bucket.store(new Staying{.key = key, .plan = plan, .next = first}, std::memory_order_release);
    staying_count_.fetch_add(1, std::memory_order_release);
    return plan;
}

}  // namespace tmm
