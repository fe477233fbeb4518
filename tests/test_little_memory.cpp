// The C interface where there is no memory even for what a thread keeps of its last failure.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include "tmm/tmm.h"

namespace {

thread_local bool has_memory = true;

}  // namespace

void* operator new(std::size_t bytes) {
    void* const memory = has_memory ? std::malloc(bytes > 0 ? bytes : 1) : nullptr;
    if (!memory) throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

TEST_CASE("a thread without memory gets statuses and an empty sentence, and no exception") {
    const char* before_failure = nullptr;
    const char* after_failure = nullptr;
    tmmStatus_t status = TMM_STATUS_SUCCESS;
    bool threw = false;
    std::thread([&] {
        has_memory = false;
        try {
            before_failure = tmmLastError(nullptr);
            status = tmmSetStream(nullptr, nullptr);
            after_failure = tmmLastError(nullptr);
        } catch (...) {
            threw = true;
        }
        has_memory = true;
    }).join();
    REQUIRE_FALSE(threw);
    CHECK(status == TMM_STATUS_INVALID_HANDLE);
    CHECK(std::strcmp(before_failure, "") == 0);
    CHECK(std::strcmp(after_failure, "") == 0);
}
