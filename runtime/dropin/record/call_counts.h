// How often a process has called for each shape, and for how long, counted without locks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace tmm::dropin {

struct Calls {
    std::int64_t count = 0;
    // Those whose time is known, and the nanoseconds of all of these.
    std::int64_t timed = 0;
    std::int64_t nanoseconds = 0;

    Calls& operator+=(const Calls& others) {
        count += others.count;
        timed += others.timed;
        nanoseconds += others.nanoseconds;
        return *this;
    }
};

// It knows of each shape, a line of a shapes file, what has not been written yet. Thread-safe, and whole in every moment in which a process
// may be forked or interrupted by a signal. Shapes are never removed.
class CallCounts {
    // A sum that is added to and taken away.
    struct Pending {
        std::atomic<std::int64_t> count = 0;
        std::atomic<std::int64_t> timed = 0;
        std::atomic<std::int64_t> nanoseconds = 0;

        void add(const Calls& calls) noexcept;
        Calls take() noexcept;
    };

public:
    class Shape {
    public:
        explicit Shape(const std::string& its_text) : text(its_text) {}
        const std::string text;

    private:
        friend class CallCounts;
        std::atomic<std::int64_t> count_ = 0;
        Pending pending_;
        Shape* next_ = nullptr;
        Shape* before_ = nullptr;
    };

    // True where the process has not called for the shape before. Throws std::bad_alloc.
    bool add(const std::string& shape, const Calls& calls);
    // All calls, written or not.
    std::int64_t count(const std::string& shape) const noexcept;
    bool has_pending() const noexcept;
    // to(shape, calls) is handed what is pending, and has it from then on. Safe in handlers of signals where `to` is.
    template <class To>
    void take_pending(const To& to) {
        for (Shape* shape = last_.load(std::memory_order_acquire); shape; shape = shape->before_)
            if (const Calls calls = shape->pending_.take(); calls.count != 0) to(*shape, calls);
    }
    void give_back(Shape& shape, const Calls& calls) noexcept { shape.pending_.add(calls); }
    // What a child has from its parent, which writes it itself.
    void forget_pending() noexcept {
        take_pending([](const Shape&, const Calls&) {});
    }

private:
    Shape* find(std::size_t bucket, const std::string& shape) const noexcept;
    void add_to_all(Shape& shape) noexcept;

    std::array<std::atomic<Shape*>, 4096> buckets_{};
    std::atomic<Shape*> last_ = nullptr;
};

}  // namespace tmm::dropin
