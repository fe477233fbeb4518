#include "runtime/dropin/record/call_counts.h"

#include <functional>
#include <memory>

namespace tmm::dropin {

void CallCounts::Pending::add(const Calls& calls) noexcept {
    // Who takes the count finds the time that belongs to it.
    nanoseconds.fetch_add(calls.nanoseconds, std::memory_order_relaxed);
    timed.fetch_add(calls.timed, std::memory_order_relaxed);
    count.fetch_add(calls.count, std::memory_order_release);
}

Calls CallCounts::Pending::take() noexcept {
    Calls taken;
    if (count.load(std::memory_order_relaxed) == 0) return taken;
    taken.count = count.exchange(0, std::memory_order_acquire);
    taken.timed = timed.exchange(0, std::memory_order_relaxed);
    taken.nanoseconds = nanoseconds.exchange(0, std::memory_order_relaxed);
    return taken;
}

CallCounts::Shape* CallCounts::find(std::size_t bucket, const std::string& shape) const noexcept {
    for (Shape* known = buckets_[bucket].load(std::memory_order_acquire); known; known = known->next_)
        if (known->text == shape) return known;
    return nullptr;
}

bool CallCounts::add(const std::string& text, const Calls& calls) {
    const std::size_t bucket = std::hash<std::string>{}(text) % buckets_.size();
    Shape* shape = find(bucket, text);
    std::unique_ptr<Shape> made;
    bool is_new = false;
    while (!shape) {
        if (!made) made = std::make_unique<Shape>(text);
        made->next_ = buckets_[bucket].load(std::memory_order_acquire);
        // Another thread may have added it meanwhile.
        if (Shape* const known = find(bucket, text)) {
            shape = known;
        } else if (buckets_[bucket].compare_exchange_strong(made->next_, made.get(), std::memory_order_acq_rel)) {
            shape = made.release();
            add_to_all(*shape);
            is_new = true;
        }
    }
    shape->count_.fetch_add(calls.count, std::memory_order_relaxed);
    shape->pending_.add(calls);
    return is_new;
}

void CallCounts::add_to_all(Shape& shape) noexcept {
    shape.before_ = last_.load(std::memory_order_acquire);
    while (!last_.compare_exchange_weak(shape.before_, &shape, std::memory_order_acq_rel)) continue;
}

std::int64_t CallCounts::count(const std::string& text) const noexcept {
    const Shape* const shape = find(std::hash<std::string>{}(text) % buckets_.size(), text);
    return shape ? shape->count_.load(std::memory_order_relaxed) : 0;
}

bool CallCounts::has_pending() const noexcept {
    for (const Shape* shape = last_.load(std::memory_order_acquire); shape; shape = shape->before_)
        if (shape->pending_.count.load(std::memory_order_relaxed) != 0) return true;
    return false;
}

}  // namespace tmm::dropin
