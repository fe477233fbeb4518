// The C interface where there is no memory: for what a thread keeps of its last failure, or on the device for a workspace.
#include <doctest/doctest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/text/text.h"
#include "tests/support/api_testing.h"
#include "tests/support/selection_testing.h"
#include "tmm/tmm.h"

namespace {

thread_local bool has_memory = true;
// The emulated device's memory for something as large as a handle's workspace.
thread_local bool has_device_memory = true;
constexpr std::size_t kLeastWorkspace = 1 << 16;

}  // namespace

extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept {
    if (!has_device_memory && bytes >= kLeastWorkspace) return ENOMEM;
    *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    return *memory ? 0 : ENOMEM;
}

// Where these are inlined, GCC takes what malloc gave for something that only delete may free.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    void* const memory = has_memory ? std::malloc(bytes > 0 ? bytes : 1) : nullptr;
    if (!memory) throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
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

TEST_CASE("without memory for a workspace, calls that bring one get the winner, and others the fallback, whichever come first") {
    const api_testing::Scratch scratch;
    const std::string file = scratch.file("tmm.db");
    {
        tmm::TuningDatabase database(file, tmm::TuningDatabase::Mode::read_write_create);
        database.set_environment(tmm::Environment{.device = tmm::host_device_info()});
        database.decide(selection_testing::shape("40 36 200"), {},
                        {.config = tmm::parse_config(selection_testing::kSplit3), .median_us = 1, .candidates = 1, .reason = "only one"});
    }
    const api_testing::Product p{.m = 40, .n = 36, .k = 200};
    const std::vector<float> a = api_testing::normal_values(p.size_a(), 1), b = api_testing::normal_values(p.size_b(), 2);
    const std::vector<float> before(p.size_c(), NAN);
    for (const bool first_brings : {true, false}) {
        CAPTURE(first_brings);
        const api_testing::Fixture on(TMM_DEVICE_HOST, file);
        const tmm::DeviceBuffer workspace(on.device, kLeastWorkspace);
        const tmmGemmProblem_t problem = api_testing::problem_of(p);
        const api_testing::LogCapture log;
        has_device_memory = false;
        for (const bool brings : {first_brings, !first_brings, first_brings}) {
            std::vector<float> c = before;
            tmmGemmArgs_t args = api_testing::args_of(p, a.data(), b.data(), c.data());
            if (brings) {
                args.workspace = workspace.data();
                // The fallback would need none of it.
                CHECK(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_WORKSPACE_TOO_SMALL);
                args.workspace_size = workspace.bytes();
            }
            CHECK(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS);
            CHECK(api_testing::difference(p, a, b, before, c) == "");
        }
        has_device_memory = true;
        // Nothing was tried that the calls do not need.
        REQUIRE(log.lines.size() == 1);
        CHECK(selection_testing::contains(log.lines[0], "using the fallback kernel"));
    }
}
