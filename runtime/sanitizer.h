// AddressSanitizer's interface where this is built with it, and nothing where it is not.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TMM_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TMM_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef TMM_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
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
// Around every switch of stacks: the first before it, the second on the other side.
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

}  // namespace tmm::sanitizer
