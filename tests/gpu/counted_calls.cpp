#include "tests/gpu/counted_calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>

// glibc's own names of its allocator.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

thread_local bool counting = false;
thread_local tmm::testing::CountedCalls calls;

void count(long tmm::testing::CountedCalls::*kind) {
    if (counting) ++(calls.*kind);
}
void count_allocation() {
    count(&tmm::testing::CountedCalls::allocations);
}
void count_lock() {
    count(&tmm::testing::CountedCalls::locks);
}
void count_system_call() {
    count(&tmm::testing::CountedCalls::system_calls);
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace tmm::testing {

void begin_counting() {
    calls = {};
    counting = true;
}
CountedCalls end_counting() {
    counting = false;
    return calls;
}

Uncounted::Uncounted() : before_(counting) {
    counting = false;
}
Uncounted::~Uncounted() {
    counting = before_;
}

}  // namespace tmm::testing

#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t bytes) {
    count_allocation();
    return __libc_malloc(bytes);
}
void* calloc(std::size_t number, std::size_t bytes) {
    count_allocation();
    return __libc_calloc(number, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
    count_allocation();
    return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    count_allocation();
    return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    count_allocation();
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
    count_allocation();
    *memory = __libc_memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}
void free(void* memory) {
    count(&tmm::testing::CountedCalls::frees);
    __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
    static const auto real = next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
    count_lock();
    return real(mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
    static const auto real = next<int (*)(pthread_mutex_t*)>("pthread_mutex_trylock");
    count_lock();
    return real(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
    static const auto real = next<int (*)(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
    count_lock();
    return real(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
    static const auto real = next<int (*)(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
    count_lock();
    return real(lock);
}

int open(const char* path, int flags, ...) {
    static const auto real = next<int (*)(const char*, int, ...)>("open");
    std::va_list rest;
    va_start(rest, flags);
    const unsigned mode = va_arg(rest, unsigned);
    va_end(rest);
    count_system_call();
    return real(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    static const auto real = next<int (*)(const char*, int, ...)>("open64");
    std::va_list rest;
    va_start(rest, flags);
    const unsigned mode = va_arg(rest, unsigned);
    va_end(rest);
    count_system_call();
    return real(path, flags, mode);
}
int stat(const char* path, struct stat* into) {
    static const auto real = next<int (*)(const char*, struct stat*)>("stat");
    count_system_call();
    return real(path, into);
}
int access(const char* path, int mode) {
    static const auto real = next<int (*)(const char*, int)>("access");
    count_system_call();
    return real(path, mode);
}
void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) {
    static const auto real = next<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
    count_system_call();
    return real(address, bytes, protection, flags, file, offset);
}
int munmap(void* address, std::size_t bytes) {
    static const auto real = next<int (*)(void*, std::size_t)>("munmap");
    count_system_call();
    return real(address, bytes);
}
}
#pragma GCC visibility pop
