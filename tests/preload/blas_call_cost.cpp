// What libtmm_blas.so costs a program that it does nothing for: the time of a product that is passed on, and what a process takes that does
// nothing, both as processor time. It is no test by itself: scripts/test_dropin runs it with the library loaded first, and without.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <vector>

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*, const int*,
            const float*, float*, const int*, std::size_t, std::size_t);
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
}

namespace {

double thread_nanoseconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// The least of many rounds.
template <class Call>
double nanoseconds_of(const Call& call) {
    constexpr int kCalls = 2000;
    double least = 1e9;
    for (int round = 0; round < 400; ++round) {
        const double start = thread_nanoseconds();
        for (int i = 0; i < kCalls; ++i) call();
        least = std::min(least, (thread_nanoseconds() - start) / kCalls);
    }
    return least;
}

// The median; 0 where it can't be started.
double milliseconds_of_process(const char* program) {
    std::vector<double> times;
    for (int round = 0; round < 300; ++round) {
        pid_t process = 0;
        char* const words[] = {const_cast<char*>(program), nullptr};
        rusage usage{};
        int status = 0;
        if (posix_spawn(&process, program, nullptr, nullptr, words, environ) != 0 || wait4(process, &status, 0, &usage) != process)
            return 0;
        const auto of = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
        };
        times.push_back(of(usage.ru_utime) + of(usage.ru_stime));
    }
    std::nth_element(times.begin(), times.begin() + 150, times.end());
    return times[150];
}

}  // namespace

int main() {
    const int n = 1;
    const float one = 1;
    const float zero = 0;
    const float a = 2;
    float c = 0;
    std::printf("%.1f ns a sgemm_ of one element, ",
                nanoseconds_of([&] { sgemm_("n", "n", &n, &n, &n, &one, &a, &n, &a, &n, &zero, &c, &n, 1, 1); }));
    std::printf("%.1f ns a cblas_sgemm, ", nanoseconds_of([&] { cblas_sgemm(101, 111, 111, 1, 1, 1, 1, &a, 1, &a, 1, 0, &c, 1); }));
    std::printf("%.2f ms a process of /bin/true\n", milliseconds_of_process("/bin/true"));
    return c == 4 ? 0 : 1;
}
