// A program that is linked with libtmm.so and does what programs do besides: it forks, cancels threads, and throws out of the log's
// callback. library_process CASE NUMBER DEVICE; tests/runtime/test_library_process.cpp and scripts/test_gpu run it. Its exit status is 0
// where all is right, and 77 where there is no such device.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tmm/tmm.h"

namespace {

tmmHandle_t handle = nullptr;
// A stand-in for the driver computes nothing.
const bool looks_at_results = !std::getenv("TMM_TEST_STAND_IN");

tmmStatus_t multiply(tmmHandle_t with, int n, bool& is_right) {
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const std::vector<float> a(elements, 1.0f);
    std::vector<float> c(elements);
    const float one = 1;
    const float zero = 0;
    const tmmStatus_t status =
        tmmHostSgemm(with, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, n, n, n, &one, a.data(), n, a.data(), n, &zero, c.data(), n);
    is_right = !looks_at_results || std::all_of(c.begin(), c.end(), [&](float element) { return element == static_cast<float>(n); });
    return status;
}

bool multiplies(int n) {
    bool is_right = false;
    return multiply(handle, n, is_right) == TMM_STATUS_SUCCESS && is_right;
}

struct Multiplier {
    pthread_t thread;
    std::atomic<bool> stops = false;
    std::atomic<bool> is_wrong = false;

    Multiplier() { pthread_create(&thread, nullptr, run, this); }
    static void* run(void* self) {
        auto& multiplier = *static_cast<Multiplier*>(self);
        for (int n = 12; !multiplier.stops; n = n < 20 ? n + 1 : 12) {
            if (!multiplies(n)) multiplier.is_wrong = true;
            pthread_testcancel();
        }
        return nullptr;
    }
};

bool is_refused(tmmStatus_t status, tmmHandle_t of) {
    return status == TMM_STATUS_DEVICE && std::strstr(tmmLastError(of), "the process was forked");
}

// What a child may see of a handle of its parent's: on a GPU it is refused; on the host it serves, unless another thread was in a call.
bool child_is_told(bool on_host, bool alone) {
    bool is_right = false;
    const tmmStatus_t status = multiply(handle, 14, is_right);
    const bool serves = status == TMM_STATUS_SUCCESS && is_right;
    if (!is_refused(status, handle) && !(on_host && serves)) return false;
    if (on_host && alone && !serves) return false;
    tmmHandle_t own = nullptr;
    const tmmStatus_t made = tmmCreate(&own, TMM_DEVICE_HOST, "/dev/null/none");
    if (!is_refused(made, nullptr) && !(made == TMM_STATUS_SUCCESS && multiply(own, 14, is_right) == TMM_STATUS_SUCCESS)) return false;
    return tmmDestroy(own) == TMM_STATUS_SUCCESS && tmmDestroy(handle) == TMM_STATUS_SUCCESS;
}

// 0 where it was told; 97 where it hangs.
int status_of_child(bool on_host, bool alone) {
    const pid_t child = fork();
    if (child == 0) _exit(child_is_told(on_host, alone) ? 0 : 1);
    int status = 0;
    for (int waited_ms = 0; waited_ms < 60'000; ++waited_ms) {
        if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 97;
}

// The first children are those of a process whose thread is compiling.
int forks(int rounds, bool on_host) {
    Multiplier multiplier;
    for (int round = 0; round < rounds; ++round) {
        usleep(static_cast<useconds_t>(round % 7 * 1000));
        const int status = status_of_child(on_host, false);
        if (status == 0) continue;
        std::printf("the child of round %d ended with %d\n", round, status);
        return 1;
    }
    multiplier.stops = true;
    pthread_join(multiplier.thread, nullptr);
    if (multiplier.is_wrong || !multiplies(15)) return 1;
    return status_of_child(on_host, true);
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
    return multiplies(15) ? 0 : 1;
}

// A listener's failure is its own.
int throws_in_callback() {
    static int lines = 0;
    tmmSetLogCallback(
        [](const char*, void*) {
            ++lines;
            throw std::runtime_error("out of a callback");
        },
        nullptr);
    // The database can't be read, which is said.
    return multiplies(15) && lines > 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) return 3;
    const std::string name = words[1];
    const int number = std::atoi(words[2]);
    const bool on_host = std::strcmp(words[3], "host") == 0;
    const tmmStatus_t made = tmmCreate(&handle, on_host ? TMM_DEVICE_HOST : std::atoi(words[3]), "/dev/null/none");
    if (made != TMM_STATUS_SUCCESS) {
        std::printf("%s\n", tmmLastError(nullptr));
        return made == TMM_STATUS_NO_DEVICE ? 77 : 2;
    }
    if (name == "forks") return forks(number, on_host);
    if (name == "cancels") return cancels(number);
    if (name == "throws") return throws_in_callback();
    return 3;
}
