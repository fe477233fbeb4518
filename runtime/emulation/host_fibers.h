// Fibers of one OS thread, which they share with a scheduler: it resumes one of them, and goes on when that one suspends itself. A fiber
// whose work is done is free for more.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/device/sanitizer.h"

namespace tmm {

class HostFibers {
public:
    struct Fiber {
        // The fiber goes on here while others run; and the scheduler goes on here while the fiber runs.
        boost::context::fiber inside;
        boost::context::fiber scheduler;
        const void* stack_bottom = nullptr;
        sanitizer::KnownStack stack;
    };

    // What a free fiber does when it is started.
    explicit HostFibers(std::function<void(Fiber&)> work) : work_(std::move(work)) {}
    // Ends the free fibers; no other may be left.
    ~HostFibers();
    HostFibers(const HostFibers&) = delete;
    HostFibers& operator=(const HostFibers&) = delete;

    // The scheduler calls these; they return when the fiber suspends itself or its work is done.
    void start_free_one();
    void resume(Fiber& fiber);
    // The fiber itself calls it.
    void suspend(Fiber& fiber);

private:
    void make_context(Fiber& fiber);
    void live(Fiber& fiber);

    std::function<void(Fiber&)> work_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Fiber*> free_;
    bool stopping_ = false;
    const void* scheduler_stack_ = nullptr;
    std::size_t scheduler_stack_bytes_ = 0;
};

}  // namespace tmm
