// A call of the C interface, as its thread and its process see it.
#pragma once

#include <pthread.h>

#include <atomic>

namespace tmm {

// A thread's calls that have not returned.
struct ThreadCalls {
    std::atomic<int> depth = 0;
    // Some thread has it.
    std::atomic<bool> is_taken = true;
    ThreadCalls* next = nullptr;
};

// A thread's state outside of the call that it is within.
struct CallState {
    ThreadCalls* thread = nullptr;
    int cancel_state = PTHREAD_CANCEL_ENABLE;
};

// Stand at both ends of each function of the interface. In between the thread is not cancelled by pthread_cancel(), as it would be in no
// other function that multiplies; and a child that is forked meanwhile, by another thread, finds out. A thread that may be cancelled
// anywhere ends in end_call(): where that stands there must be nothing to clean up, since the C++ library within is not the one that
// unwinds the thread.
CallState begin_call() noexcept;
inline void end_call(const CallState& state) {
    state.thread->depth.fetch_sub(1, std::memory_order_release);
    pthread_setcancelstate(state.cancel_state, nullptr);
}

// Which process this is, counted from its first ancestor that used tmm: fork() makes another one.
unsigned process_number() noexcept;
// The process was forked while another thread was within a call, which may have held a lock or left something half done: no call can be
// served in it.
bool is_process_torn() noexcept;

}  // namespace tmm
