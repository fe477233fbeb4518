// The device on a GPU: memory, launches, replays, and what a refused or a faulting launch is reported as.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "generator/compile/compiler.h"
#include "runtime/device/device.h"

extern char** environ;

using namespace tmm;

namespace {

struct AddArgs {
    int* values;
    long long count;
    int summand;
};

const char* const kSource = R"(
struct AddArgs { int* values; long long count; int summand; };
extern "C" __global__ void test_add(const AddArgs args) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < args.count) args.values[i] += args.summand;
}
extern "C" __global__ void test_shared(const AddArgs args) {
    extern __shared__ int shared[];
    shared[threadIdx.x] = args.summand + static_cast<int>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x < args.count) args.values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}
)";

constexpr int kFaultSeen = 42;

bool no_gpu() {
    if (gpu_count() > 0) return false;
    MESSAGE("skipped: no GPU here");
    return true;
}

CompiledKernel compile(const Device& device) {
    const KernelSource source{.name = "test_device", .text = kSource, .entries = {{"test_add", "AddArgs"}, {"test_shared", "AddArgs"}}};
    CompileResult result = make_nvrtc_compiler(device.info().compute_capability())->compile(source);
    if (const auto* failure = std::get_if<CompileFailure>(&result)) FAIL(failure->log);
    return std::get<CompiledKernel>(std::move(result));
}

}  // namespace

TEST_CASE("a GPU says what it is, and a number too high says how many there are") {
    if (no_gpu()) return;
    const auto device = open_device(0);
    const DeviceInfo& info = device->info();
    CHECK(!info.emulated);
    CHECK(!info.name.empty());
    CHECK(info.compute_capability() >= 50);
    CHECK(info.sm_count > 0);
    CHECK(info.memory_bytes > 0);
    CHECK(info.l2_bytes > 0);
    CHECK(info.shared_bytes_per_block >= 48 * 1024);
    CHECK(info.driver_version >= 11080);
    try {
        open_device(gpu_count());
        FAIL("a GPU was opened that is not there");
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::no_device);
        CHECK(std::string(error.what()).find(fmt::format("no GPU {}", gpu_count())) != std::string::npos);
    }
}

TEST_CASE("memory goes there and back") {
    if (no_gpu()) return;
    const auto device = open_device(0);
    CHECK(device->allocate(0) == nullptr);
    const DeviceBuffer buffer(device, 1000 * sizeof(int));
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256 == 0);
    std::vector<int> sent(1000);
    std::iota(sent.begin(), sent.end(), 7);
    device->copy_to_device(buffer.data(), sent.data(), buffer.bytes());
    std::vector<int> received(1000);
    device->copy_to_host(received.data(), buffer.data(), buffer.bytes());
    CHECK(received == sent);
    device->fill_bytes(buffer.data(), 0x01, buffer.bytes());
    device->copy_to_host(received.data(), buffer.data(), buffer.bytes());
    CHECK(received == std::vector<int>(1000, 0x01010101));
    CHECK_THROWS_AS(device->allocate(std::size_t{1} << 50), std::bad_alloc);
}

TEST_CASE("kernels run, with as much shared memory as the device has") {
    if (no_gpu()) return;
    const auto device = open_device(0);
    const CompiledKernel compiled = compile(*device);
    const DeviceBuffer buffer(device, 1000 * sizeof(int));
    device->fill_bytes(buffer.data(), 0, buffer.bytes());
    AddArgs args{.values = static_cast<int*>(buffer.data()), .count = 1000, .summand = 5};

    const auto add = device->load(compiled, "test_add");
    device->launch(*add, {.grid = 4, .threads = 256}, &args, sizeof args, nullptr);
    device->launch(*add, {.grid = 4, .threads = 256}, &args, sizeof args, nullptr);
    device->synchronize();
    std::vector<int> values(1000);
    device->copy_to_host(values.data(), buffer.data(), buffer.bytes());
    CHECK(values == std::vector<int>(1000, 10));
    CHECK(device->blocks_per_sm(*add, 256, 0) > 0);

    const std::int64_t shared_bytes = device->info().shared_bytes_per_block;
    const auto shared = device->load(compiled, "test_shared");
    args.count = 256;
    device->launch(*shared, {.grid = 1, .threads = 256, .shared_bytes = shared_bytes}, &args, sizeof args, nullptr);
    device->copy_to_host(values.data(), buffer.data(), buffer.bytes());
    CHECK(values[0] == 5 + 255);
    CHECK(values[255] == 5);

    if (device->info().compute_capability_major >= 9) {
        args.count = 1000;
        device->launch(*add, {.grid = 4, .threads = 256, .cluster = 2}, &args, sizeof args, nullptr);
        device->copy_to_host(values.data(), buffer.data(), buffer.bytes());
        CHECK(values[999] == 15);
    }
}

TEST_CASE("a refused launch says so and does no harm") {
    if (no_gpu()) return;
    const auto device = open_device(0);
    const CompiledKernel compiled = compile(*device);
    const DeviceBuffer buffer(device, sizeof(int));
    device->fill_bytes(buffer.data(), 0, buffer.bytes());
    const AddArgs args{.values = static_cast<int*>(buffer.data()), .count = 1, .summand = 1};
    const auto add = device->load(compiled, "test_add");
    CHECK_THROWS_AS(device->launch(*add, {.grid = 1, .threads = 4096}, &args, sizeof args, nullptr), LaunchRefused);
    CHECK_THROWS_AS(device->launch(*add, {.grid = 0, .threads = 32}, &args, sizeof args, nullptr), LaunchRefused);
    CHECK_THROWS_AS(device->launch(*add, {.grid = std::int64_t{1} << 31, .threads = 32}, &args, sizeof args, nullptr), LaunchRefused);
    const LaunchShape too_much{.grid = 1, .threads = 32, .shared_bytes = device->info().shared_bytes_per_block + 1};
    CHECK_THROWS_AS(device->launch(*add, too_much, &args, sizeof args, nullptr), LaunchRefused);
    CHECK_THROWS_AS(device->load(compiled, "test_absent"), UnusableImage);
    device->launch(*add, {.grid = 1, .threads = 32}, &args, sizeof args, nullptr);
    int value = 0;
    device->copy_to_host(&value, buffer.data(), sizeof value);
    CHECK(value == 1);
}

TEST_CASE("a recorded sequence runs again each time it is replayed, and gives its time") {
    if (no_gpu()) return;
    const auto device = open_device(0);
    const CompiledKernel compiled = compile(*device);
    const auto add = device->load(compiled, "test_add");
    const DeviceBuffer buffer(device, 1000 * sizeof(int));
    device->fill_bytes(buffer.data(), 0, buffer.bytes());
    AddArgs args{.values = static_cast<int*>(buffer.data()), .count = 1000, .summand = 1};
    const auto replay = device->record([&](Stream stream) {
        for (int i = 0; i < 3; ++i) {
            args.summand = i + 1;
            device->launch(*add, {.grid = 4, .threads = 256}, &args, sizeof args, stream);
        }
    });
    CHECK(replay->run_timed() > 0);
    CHECK(replay->run_timed() > 0);
    std::vector<int> values(1000);
    device->copy_to_host(values.data(), buffer.data(), buffer.bytes());
    CHECK(values == std::vector<int>(1000, 12));

    // A recording that fails leaves the device as it was.
    CHECK_THROWS_AS(device->record([&](Stream stream) { device->launch(*add, {.grid = 1, .threads = 4096}, &args, sizeof args, stream); }),
                    LaunchRefused);
    CHECK(replay->run_timed() > 0);
    CHECK(device->state().sm_clock_mhz >= 0);
}

// Runs in a process of its own, which the fault spoils.
TEST_CASE("child: a write to an address that is not there" * doctest::skip()) {
    const auto device = open_device(0);
    const CompiledKernel compiled = compile(*device);
    const auto add = device->load(compiled, "test_add");
    const AddArgs args{.values = reinterpret_cast<int*>(std::uintptr_t{1} << 60), .count = 1, .summand = 1};
    int faults = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {
        try {
            if (attempt == 0) device->launch(*add, {.grid = 1, .threads = 32}, &args, sizeof args, nullptr);
            device->synchronize();
        } catch (const DeviceFault&) {
            ++faults;
        }
    }
    std::_Exit(faults == 2 ? kFaultSeen : 1);
}

TEST_CASE("a fault is reported as one, and stays") {
    if (no_gpu()) return;
    std::string program = "/proc/self/exe";
    std::string filter = "--test-case=child: a write to an address that is not there";
    std::string no_skip = "--no-skip";
    char* const arguments[] = {program.data(), filter.data(), no_skip.data(), nullptr};
    pid_t child = 0;
    REQUIRE(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == kFaultSeen);
}
