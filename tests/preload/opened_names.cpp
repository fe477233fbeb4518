// Writes down what a process opens, loads and runs; to be preloaded. TMM_TEST_OPENED: the file that gets a line for each name.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <typename Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void note(const char* name) {
    const char* const list = std::getenv("TMM_TEST_OPENED");
    if (!list || !name) return;
    static const auto open_file = next<int (*)(const char*, int, ...)>("open");
    const int file = open_file(list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    char line[4096];
    const int length = std::snprintf(line, sizeof line, "%s\n", name);
    if (length > 0) (void)!write(file, line, static_cast<std::size_t>(length));
    close(file);
}

mode_t mode_among(int flags, va_list arguments) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
}

}  // namespace

#define NOTED_OPEN(function)                                                       \
    int function(const char* path, int flags, ...) {                               \
        va_list arguments;                                                         \
        va_start(arguments, flags);                                                \
        const mode_t mode = mode_among(flags, arguments);                          \
        va_end(arguments);                                                         \
        note(path);                                                                \
        return next<int (*)(const char*, int, ...)>(#function)(path, flags, mode); \
    }
#define NOTED_OPENAT(function)                                                                     \
    int function(int directory, const char* path, int flags, ...) {                                \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const mode_t mode = mode_among(flags, arguments);                                          \
        va_end(arguments);                                                                         \
        note(path);                                                                                \
        return next<int (*)(int, const char*, int, ...)>(#function)(directory, path, flags, mode); \
    }

#pragma GCC visibility push(default)
extern "C" {

NOTED_OPEN(open)
NOTED_OPEN(open64)
NOTED_OPENAT(openat)
NOTED_OPENAT(openat64)

FILE* fopen(const char* path, const char* mode) {
    note(path);
    return next<FILE* (*)(const char*, const char*)>("fopen")(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
    note(path);
    return next<FILE* (*)(const char*, const char*)>("fopen64")(path, mode);
}
void* dlopen(const char* path, int flags) {
    note(path);
    return next<void* (*)(const char*, int)>("dlopen")(path, flags);
}
int execve(const char* path, char* const arguments[], char* const environment[]) {
    note(path);
    return next<int (*)(const char*, char* const[], char* const[])>("execve")(path, arguments, environment);
}
int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                char* const arguments[], char* const environment[]) {
    note(path);
    return next<decltype(&posix_spawn)>("posix_spawn")(child, path, actions, attributes, arguments, environment);
}
}
#pragma GCC visibility pop
