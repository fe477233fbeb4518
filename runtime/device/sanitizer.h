// The interfaces of AddressSanitizer and ThreadSanitizer where this is built with one of them, and nothing where it is not.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TMM_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TMM_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TMM_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TMM_THREAD_SANITIZER 1
#endif
#endif

#ifdef TMM_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef TMM_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace tmm::sanitizer {

#ifdef TMM_ADDRESS_SANITIZER
inline constexpr bool kActive = true;
inline void poison(const void* begin, std::size_t bytes) {
    __asan_poison_memory_region(begin, bytes);
}
inline void unpoison(const void* begin, std::size_t bytes) {
    __asan_unpoison_memory_region(begin, bytes);
}
// These stand around every switch of stacks: the first before it, the second on the other side.
inline void start_switch(void** fake_stack, const void* bottom, std::size_t bytes) {
    __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
inline void finish_switch(void* fake_stack, const void** old_bottom, std::size_t* old_bytes) {
    __sanitizer_finish_switch_fiber(fake_stack, old_bottom, old_bytes);
}
#else
inline constexpr bool kActive = false;
inline void poison(const void*, std::size_t) {}
inline void unpoison(const void*, std::size_t) {}
inline void start_switch(void**, const void*, std::size_t) {}
inline void finish_switch(void*, const void**, std::size_t*) {}
#endif

// A stack as ThreadSanitizer knows it: it follows a thread from stack to stack only where it is told of each switch.
#ifdef TMM_THREAD_SANITIZER
class KnownStack {
public:
    KnownStack() : stack_(__tsan_create_fiber(0)) {}
    ~KnownStack() { __tsan_destroy_fiber(stack_); }
    KnownStack(const KnownStack&) = delete;
    KnownStack& operator=(const KnownStack&) = delete;

    // Called right before the calling thread goes over to this stack, and back to the one that it was on.
    void enter() {
        left_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(stack_, 0);
    }
    void leave() { __tsan_switch_to_fiber(left_, 0); }

private:
    void* stack_ = nullptr;
    void* left_ = nullptr;
};
#else
class KnownStack {
public:
    void enter() {}
    void leave() {}
};
#endif

}  // namespace tmm::sanitizer
