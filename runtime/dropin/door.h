// What a function does that a program calls: a door of the library.
//
// A program's exceptions, and the unwinding of a thread that is cancelled or ends itself, pass through doors when they come out of the
// function behind. The C++ library that this library has within must have no part in that, since its unwinder is not the process's. So
// doors are compiled without exceptions and have nothing to clean up: whatever may throw is behind functions that are noexcept, and what a
// door must do when it is left is done by tmm_leave_unwound_door.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <cstdint>

#include "runtime/dropin/behind.h"

namespace tmm::dropin {

// The doors that a thread is within. A longjmp() leaves one open; as stacks grow downwards, the next door finds that out by where its own
// frame is.
struct Doors {
    std::uintptr_t frame = 0;
    int depth = 0;
};
Doors& doors_of_thread() noexcept;

// A door that was entered.
struct Door {
    Doors before;
    int depth;

    // Whether the program called, and not the library behind or what tmm has loaded.
    bool is_outermost() const noexcept { return depth == 0; }
    // Whether what stands behind is a dispatcher that stands in front, too: it has called back so often that it would do so for ever. A
    // BLAS whose products are made of smaller ones, each half as large, is never within so many of them.
    bool is_endless() const noexcept { return depth >= 40; }
};

// frame: the door's, __builtin_frame_address(0).
inline Door enter_door(const void* frame) noexcept {
    Doors& doors = doors_of_thread();
    const Doors before = doors;
    const auto address = reinterpret_cast<std::uintptr_t>(frame);
    doors = {.frame = address, .depth = address < before.frame ? before.depth + 1 : 0};
    return {.before = before, .depth = doors.depth};
}
inline void leave_door(const Door& door) noexcept {
    doors_of_thread() = door.before;
}
// Stands in a door: the unwinder calls the function for its frame.
#define TMM_DOOR_IS_UNWOUND() asm volatile(".cfi_personality 0x1b, tmm_leave_unwound_door")

// Does what a thread of the program does for tmm. It is not cancelled meanwhile, since the functions of a BLAS and of cuBLAS are no points
// at which a thread ends; and errno is afterwards what it was. work: is noexcept, and calls no code of the program's.
template <class Work>
auto own_work(const Work& work) {
    static_assert(noexcept(work()));
    const int errno_before = errno;
    int cancel_state_before = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_before);
    const auto result = work();
    errno = errno_before;
    pthread_setcancelstate(cancel_state_before, nullptr);
    return result;
}

// What stands behind for the caller; another function where the one that is known would call back for ever.
inline Behind find_behind(NextSymbol& symbol, const void* caller, const Door& door) {
    Behind behind;
    const bool is_known = symbol.knows(caller, behind);
    if (is_known && !door.is_endless()) return behind;
    return own_work([&]() noexcept {
        if (door.is_endless()) symbol.exclude(behind);
        return symbol.look_up(caller);
    });
}

}  // namespace tmm::dropin
