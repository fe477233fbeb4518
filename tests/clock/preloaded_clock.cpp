// Loaded before the C library, it says that it is TMM_TEST_CLOCK seconds since 1970. Clocks that only go forward are the system's.
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

namespace {

time_t told(time_t real) {
    const char* clock = getenv("TMM_TEST_CLOCK");
    return clock ? static_cast<time_t>(strtoll(clock, nullptr, 10)) : real;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int clock_gettime(clockid_t clock, timespec* time) noexcept {
    const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec = told(time->tv_sec);
    return result;
}

EXPORTED time_t time(time_t* out) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

EXPORTED int gettimeofday(timeval* __restrict out, void* __restrict) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}
