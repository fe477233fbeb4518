// What each thread has for itself.
#pragma once

#include <utility>

namespace tmm {

// The value is made when the thread first asks and freed when it ends. The main thread's value is freed before the handlers of exit() and
// the destructors of global objects run, which may ask again: they get another one, which stays.
template <typename T>
T& thread_local_value() {
    thread_local T* own = nullptr;
    struct AtThreadEnd {
        ~AtThreadEnd() { delete std::exchange(own, nullptr); }
    };
    if (!own) {
        own = new T;
        thread_local const AtThreadEnd at_thread_end;
        (void)at_thread_end;
    }
    return *own;
}

}  // namespace tmm
