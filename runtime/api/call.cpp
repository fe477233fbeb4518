#include "runtime/api/call.h"

#include <unwind.h>

#include <new>

namespace tmm {
namespace {

// That of threads for which there was no memory.
ThreadCalls of_others;
std::atomic<ThreadCalls*> all_threads = &of_others;
thread_local ThreadCalls* own = nullptr;
std::atomic<unsigned> number = 1;
std::atomic<bool> is_torn = false;

ThreadCalls& free_place() noexcept {
    for (ThreadCalls* known = all_threads.load(std::memory_order_acquire); known; known = known->next)
        if (!known->is_taken.load(std::memory_order_relaxed) && !known->is_taken.exchange(true, std::memory_order_acq_rel)) return *known;
    auto* const made = new (std::nothrow) ThreadCalls;
    if (!made) return of_others;
    made->next = all_threads.load(std::memory_order_acquire);
    while (!all_threads.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) continue;
    return *made;
}

// The place is another thread's when this one ends.
struct AtThreadEnd {
    ~AtThreadEnd() {
        if (own != &of_others) own->is_taken.store(false, std::memory_order_release);
        own = nullptr;
    }
};

// A child has the thread alone that has forked it.
void begin_child() noexcept {
    number.fetch_add(1, std::memory_order_relaxed);
    for (ThreadCalls* thread = all_threads.load(); thread; thread = thread->next) {
        if (thread == own) continue;
        if (thread->depth.exchange(0) != 0) is_torn = true;
        thread->is_taken = thread == &of_others;
    }
}

// An exception that a program's log callback throws is caught here, by the C++ library within, in frames that the process's own unwinder
// has looked into. The unwinder within has prepared for that once it has looked into a frame itself.
_Unwind_Reason_Code stop(_Unwind_Context*, void*) {
    return _URC_END_OF_STACK;
}

void begin_process() noexcept {
    static const bool is_begun = [] {
        pthread_atfork(nullptr, nullptr, begin_child);
        _Unwind_Backtrace(stop, nullptr);
        return true;
    }();
    (void)is_begun;
}

ThreadCalls& own_calls() noexcept {
    if (!own) {
        begin_process();
        own = &free_place();
        thread_local const AtThreadEnd at_thread_end;
        (void)at_thread_end;
    }
    return *own;
}

}  // namespace

CallState begin_call() noexcept {
    CallState state{.thread = &own_calls()};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state.cancel_state);
    state.thread->depth.fetch_add(1, std::memory_order_acquire);
    return state;
}

unsigned process_number() noexcept {
    return number.load(std::memory_order_relaxed);
}

bool is_process_torn() noexcept {
    return is_torn.load(std::memory_order_relaxed);
}

}  // namespace tmm
