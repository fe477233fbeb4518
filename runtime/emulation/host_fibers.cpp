// Fibers by Boost.Context; the sanitizers hear of every switch.
#include "runtime/emulation/host_fibers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/preallocated.hpp>
#include <new>
#include <utility>

namespace tmm {
namespace {

constexpr std::size_t kStackBytes = 64 << 10;

// A stack with a guard page below it. What a fiber left poisoned on it must not outlive it. Boost's own allocators would bring an object
// file that, in archives which are not made for shared libraries, has thread-local variables where a library that is opened late can't.
class StackAllocator {
public:
    boost::context::stack_context allocate() {
        void* const mapped = mmap(nullptr, guard() + kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (mapped == MAP_FAILED) throw std::bad_alloc();
        // Without its guard a stack that overflows would go unnoticed; it works all the same.
        (void)mprotect(mapped, guard(), PROT_NONE);
        boost::context::stack_context stack;
        stack.size = guard() + kStackBytes;
        stack.sp = static_cast<char*>(mapped) + stack.size;
        return stack;
    }
    void deallocate(boost::context::stack_context& stack) {
        sanitizer::unpoison(static_cast<char*>(stack.sp) - kStackBytes, kStackBytes);
        munmap(static_cast<char*>(stack.sp) - stack.size, stack.size);
    }

private:
    static std::size_t guard() {
        static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        return bytes;
    }
};

}  // namespace

HostFibers::~HostFibers() {
    stopping_ = true;
    for (const auto& fiber : fibers_)
        if (fiber->inside) resume(*fiber);
}

void HostFibers::start_free_one() {
    if (free_.empty()) {
        free_.push_back(fibers_.emplace_back(std::make_unique<Fiber>()).get());
        make_context(*free_.back());
    }
    Fiber* const fiber = free_.back();
    free_.pop_back();
    resume(*fiber);
}

void HostFibers::resume(Fiber& fiber) {
    void* fake_stack = nullptr;
    sanitizer::start_switch(&fake_stack, fiber.stack_bottom, kStackBytes);
    fiber.stack.enter();
    fiber.inside = std::move(fiber.inside).resume();
    sanitizer::finish_switch(fake_stack, nullptr, nullptr);
}

void HostFibers::suspend(Fiber& fiber) {
    void* fake_stack = nullptr;
    sanitizer::start_switch(&fake_stack, scheduler_stack_, scheduler_stack_bytes_);
    fiber.stack.leave();
    fiber.scheduler = std::move(fiber.scheduler).resume();
    sanitizer::finish_switch(fake_stack, &scheduler_stack_, &scheduler_stack_bytes_);
}

void HostFibers::make_context(Fiber& fiber) {
    boost::context::stack_context stack = StackAllocator().allocate();
    fiber.stack_bottom = static_cast<char*>(stack.sp) - kStackBytes;
    fiber.inside = boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), StackAllocator(),
                                         [this, &fiber](boost::context::fiber&& scheduler) {
                                             sanitizer::finish_switch(nullptr, &scheduler_stack_, &scheduler_stack_bytes_);
                                             fiber.scheduler = std::move(scheduler);
                                             live(fiber);
                                             sanitizer::start_switch(nullptr, scheduler_stack_, scheduler_stack_bytes_);
                                             fiber.stack.leave();
                                             return std::move(fiber.scheduler);
                                         });
}

void HostFibers::live(Fiber& fiber) {
    while (!stopping_) {
        work_(fiber);
        free_.push_back(&fiber);
        suspend(fiber);
    }
}

}  // namespace tmm
