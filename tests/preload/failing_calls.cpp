// Calls of the C library that fail as on a machine that is short of something; to be preloaded.
// TMM_TEST_FULL_DISK=N:PREFIX: from the Nth write to files whose path begins with PREFIX on, their disk is full, in this process.
// TMM_TEST_SHORT_MEMORY=N: from the Nth aligned allocation of a page or more on, there is no memory for any, in a worker of tmm-tune.
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <typename Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

std::atomic<long> writes{0};
std::atomic<long> allocations{0};

bool is_full(int file) {
    const char* const setting = std::getenv("TMM_TEST_FULL_DISK");
    if (!setting) return false;
    char* prefix = nullptr;
    const long first = std::strtol(setting, &prefix, 10);
    if (*prefix++ != ':') return false;
    char link[64];
    char path[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return false;
    path[length] = 0;
    if (std::strncmp(path, prefix, std::strlen(prefix)) != 0) return false;
    return ++writes >= first;
}

ssize_t no_room() {
    errno = ENOSPC;
    return -1;
}

bool is_worker() {
    static const bool worker = [] {
        char line[4096];
        std::FILE* const file = std::fopen("/proc/self/cmdline", "r");
        const std::size_t length = file ? std::fread(line, 1, sizeof line - 1, file) : 0;
        if (file) std::fclose(file);
        for (std::size_t i = 0; i < length; ++i)
            if (line[i] == 0) line[i] = ' ';
        line[length] = 0;
        return std::strstr(line, "--worker") != nullptr;
    }();
    return worker;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t write(int file, const void* data, std::size_t size) {
    static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
    return is_full(file) ? no_room() : real(file, data, size);
}
ssize_t pwrite(int file, const void* data, std::size_t size, off_t at) {
    static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
    return is_full(file) ? no_room() : real(file, data, size, at);
}
ssize_t pwrite64(int file, const void* data, std::size_t size, off64_t at) {
    static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off64_t)>("pwrite64");
    return is_full(file) ? no_room() : real(file, data, size, at);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
    static const auto real = next<int (*)(void**, std::size_t, std::size_t)>("posix_memalign");
    const char* const setting = std::getenv("TMM_TEST_SHORT_MEMORY");
    if (setting && size >= 1024 && is_worker() && ++allocations >= std::atol(setting)) return ENOMEM;
    return real(memory, alignment, size);
}
}
#pragma GCC visibility pop
