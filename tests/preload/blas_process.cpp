// A program that calls a BLAS and does what programs do besides: it forks, cancels threads, throws, closes descriptors, ends in many ways.
// blas_process CASE [NUMBER [SMALLEST]], which is the smallest of its sizes; tests/dropin/test_dropin_process.cpp runs it with
// libtmm_blas.so loaded first. Its exit status is 0 where it went as it would have without.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "blas_stand_in.h"

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*, const int*,
            const float*, float*, const int*, std::size_t, std::size_t);
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
}

namespace {

// Whether products of matrices of ones are right, by both functions.
bool multiplies(int n) {
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const std::vector<float> a(elements, 1.0f);
    std::vector<float> c(elements);
    std::vector<float> d(elements);
    const float one = 1;
    const float zero = 0;
    sgemm_("n", "n", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n, 1, 1);
    cblas_sgemm(101, 111, 111, n, n, n, 1, a.data(), n, a.data(), n, 0, d.data(), n);
    const auto is_right = [&](float element) { return element == static_cast<float>(n); };
    return std::all_of(c.begin(), c.end(), is_right) && std::all_of(d.begin(), d.end(), is_right);
}

// The size of the products that threads and children multiply.
int smallest = 12;

// Multiplies until it is told to stop, or cancelled.
struct Multiplier {
    pthread_t thread;
    std::atomic<bool> stops = false;
    std::atomic<bool> is_wrong = false;

    Multiplier() { pthread_create(&thread, nullptr, run, this); }
    static void* run(void* self) {
        auto& multiplier = *static_cast<Multiplier*>(self);
        for (int n = smallest; !multiplier.stops; n = n < smallest + 28 ? n + 1 : smallest) {
            if (!multiplies(n)) multiplier.is_wrong = true;
            pthread_testcancel();
        }
        return nullptr;
    }
};

// The status of a child that multiplies; 97 where it hangs.
int status_of_child(int depth) {
    const pid_t child = fork();
    if (child == 0) {
        const bool right = multiplies(smallest + 8) && multiplies(smallest + 21) && (depth == 0 || status_of_child(depth - 1) == 0);
        _exit(right ? 0 : 1);
    }
    int status = 0;
    // No product here takes a second; a machine may be slow.
    for (int waited_ms = 0; waited_ms < 60'000; ++waited_ms) {
        if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 97;
}

// A child of each moment of a process in which threads multiply for the first time.
int forks(int rounds) {
    std::vector<Multiplier*> threads;
    for (int round = 0; round < rounds; ++round) {
        if (round == 1 || round == 10) threads.push_back(new Multiplier);
        usleep(static_cast<useconds_t>(round % 7 * 100));
        const int status = status_of_child(round % 50 == 0 ? 2 : 0);
        if (status != 0) {
            std::printf("the child of round %d ended with %d\n", round, status);
            return 1;
        }
    }
    bool wrong = false;
    for (Multiplier* thread : threads) {
        thread->stops = true;
        pthread_join(thread->thread, nullptr);
        wrong = wrong || thread->is_wrong;
    }
    return wrong || !multiplies(50) ? 1 : 0;
}

int cancels(int rounds) {
    for (int round = 0; round < rounds; ++round) {
        Multiplier multiplier;
        usleep(static_cast<useconds_t>(round % 11 * 150));
        pthread_cancel(multiplier.thread);
        void* result = nullptr;
        pthread_join(multiplier.thread, &result);
        if (result != PTHREAD_CANCELED || multiplier.is_wrong) return 1;
    }
    return multiplies(50) ? 0 : 1;
}

std::jmp_buf place;

bool comes_back_by_jump() {
    blas_stand_in_hook = [] { std::longjmp(place, 9); };
    if (setjmp(place) != 0) return true;
    multiplies(20);
    return false;
}

bool comes_back_by_exception() {
    blas_stand_in_hook = [] { throw 7; };
    try {
        multiplies(20);
    } catch (int thrown) {
        return thrown == 7;
    }
    return false;
}

bool ends_its_thread() {
    blas_stand_in_hook = [] { pthread_exit(&place); };
    pthread_t thread;
    const auto work = [](void* none) {
        multiplies(20);
        return none;
    };
    void* result = nullptr;
    return pthread_create(&thread, nullptr, work, nullptr) == 0 && pthread_join(thread, &result) == 0 && result == &place;
}

// The frames of products that come later are further down the stack.
[[gnu::noinline]] bool multiplies_deeper(int n) {
    volatile char room[4096];
    room[0] = 1;
    return multiplies(n) && room[0] == 1;
}

// What a handler of errors may do instead of returning. Products that tmm serves do not get there.
int leaves_in_many_ways(int rounds) {
    for (int round = 0; round < rounds; ++round) {
        if (!comes_back_by_exception()) return 1;
        if (!ends_its_thread()) return 2;
        blas_stand_in_hook = nullptr;
        if (!multiplies_deeper(21)) return 3;
        if (!comes_back_by_jump()) return 4;
        blas_stand_in_hook = nullptr;
        if (!multiplies(22)) return 5;
    }
    return 0;
}

// A daemon closes what it has, and opens files of its own, which get the numbers.
int closes_descriptors() {
    if (!multiplies(40)) return 1;
    for (int number = 0; number < 256; ++number) close(number);
    std::vector<int> files;
    for (const char* name : {"data0", "data1", "data2", "data3", "data4"}) files.push_back(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    for (int n = 41; n < 44; ++n)
        if (!multiplies(n)) return 1;
    for (const int file : files) {
        if (write(file, "own\n", 4) != 4 || close(file) != 0) return 1;
    }
    for (const char* name : {"data0", "data1", "data2", "data3", "data4"}) {
        std::ifstream stream(name);
        if (std::string(std::istreambuf_iterator<char>(stream), {}) != "own\n") return 2;
    }
    return 0;
}

long entries_of(const char* folder) {
    DIR* const opened = opendir(folder);
    long count = 0;
    while (opened && readdir(opened)) ++count;
    if (opened) closedir(opened);
    return count;
}

bool has_mapped(const char* words) {
    std::ifstream maps("/proc/self/maps");
    return std::string(std::istreambuf_iterator<char>(maps), {}).find(words) != std::string::npos;
}

// Says what a process has that anybody could see: descriptors, threads, handlers of signals, its mask, its directory's files. multiplied:
// once it has multiplied.
int shows_itself(int multiplied) {
    errno = 77;
    if (multiplied && !multiplies(40)) return 1;
    std::printf("errno %d, %ld descriptors, %ld threads, %ld files\n", errno, entries_of("/proc/self/fd"), entries_of("/proc/self/task"),
                entries_of("."));
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    for (int signal = 1; signal < SIGRTMIN; ++signal) {
        struct sigaction action {};
        if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL) std::printf("signal %d is handled\n", signal);
        if (sigismember(&mask, signal)) std::printf("signal %d is blocked\n", signal);
    }
    if (has_mapped("libcuda.so")) std::printf("the driver is open\n");
    return 0;
}

// Workers multiply and end, each in a way of its own.
int ends(const std::string& how) {
    if (!multiplies(50)) return 1;
    const auto worker = [&](int n, auto end) {
        const pid_t child = fork();
        if (child != 0) {
            int status = 0;
            return waitpid(child, &status, 0) == child ? status : -1;
        }
        for (int call = 0; call < 3; ++call) multiplies(n);
        end();
        abort();
    };
    if (how == "workers") {
        worker(61, [] { _exit(0); });
        worker(62, [] { _Exit(0); });
        worker(63, [] { std::exit(0); });
        worker(64, [] { std::quick_exit(0); });
        if (worker(65, [] { raise(SIGTERM); }) != SIGTERM) return 2;
        worker(61, [] { _exit(0); });
    }
    if (how == "_exit") _exit(0);
    if (how == "term") raise(SIGTERM);
    if (how == "kill") raise(SIGKILL);
    if (how == "own") {
        // A handler of the program's own is left alone.
        std::signal(SIGTERM, [](int) { _exit(0); });
        multiplies(51);
        raise(SIGTERM);
    }
    if (how == "chdir" && chdir("other") != 0) return 3;
    if (how == "says") std::puts("the program's last line");
    return 0;
}

}  // namespace

int main(int count, char** words) {
    const std::string name = count > 1 ? words[1] : "";
    const std::string argument = count > 2 ? words[2] : "";
    const int number = std::atoi(argument.c_str());
    if (count > 3) smallest = std::atoi(words[3]);
    if (name == "forks") return forks(number);
    if (name == "cancels") return cancels(number);
    if (name == "leaves") return leaves_in_many_ways(number);
    if (name == "closes-descriptors") return closes_descriptors();
    if (name == "shows-itself") return shows_itself(number);
    if (name == "ends") return ends(argument);
    return 3;
}
