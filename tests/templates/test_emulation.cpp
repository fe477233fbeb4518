// The emulated device: CUDA's built-ins, barriers, asynchronous copies, shared memory and clusters as on a GPU, and the errors that it is
// there to find.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/device/sanitizer.h"
#include "tests/support/kernels/emulation_testing.h"
#include "tests/support/temporary_directory.h"
#include "tmm/vocabulary/tensor_map.h"

using namespace tmm;
using namespace emulation_testing;

namespace {

// The end of a function that ran in a process of its own: what it wrote to stderr, and whether it died.
struct Death {
    bool died = false;
    std::string report;
};
template <class Function>
Death in_child(Function&& function) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    // The child process may leave files behind in this directory.
    const tmm::testing::TemporaryDirectory temporary;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        setenv("TMPDIR", temporary.path().c_str(), 1);
        dup2(ends[1], 2);
        close(ends[0]);
        function();
        _exit(0);
    }
    close(ends[1]);
    Death death;
    char buffer[4096];
    for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
        death.report.append(buffer, static_cast<std::size_t>(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    death.died = status != 0;
    return death;
}

}  // namespace

TEST_CASE("every thread of every block runs once, with its own indices") {
    const auto kernel = compiled(R"(
        int* out = static_cast<int*>(args.out) + (blockIdx.x * blockDim.x + threadIdx.x) * 2;
        out[0] += 1;
        out[1] = blockIdx.x * 1000000 + threadIdx.x * 1000 + gridDim.x;
    )");
    for (const char* order : kOrders) {
        const auto out = results<int>(kernel, order, {.threads = 100, .grid = 7}, 1400);
        for (int block = 0; block < 7; ++block)
            for (int thread = 0; thread < 100; ++thread) {
                const auto at = static_cast<std::size_t>(block * 100 + thread) * 2;
                CHECK(out[at] == 1);
                CHECK(out[at + 1] == block * 1000000 + thread * 1000 + 7);
            }
    }
}

TEST_CASE("barriers order a block's threads, over many phases and whatever the order") {
    const auto kernel = compiled(R"(
        tmm::SharedMemory shared;
        int* values = shared.take<int, 256>()[0];
        const int thread = threadIdx.x;
        values[thread] = thread;
        for (int phase = 0; phase < args.n; ++phase) {
            __syncthreads();
            const int next = values[(thread + 1) % 256];
            __syncthreads();
            values[thread] = next;
        }
        static_cast<int*>(args.out)[blockIdx.x * 256 + thread] = values[thread];
    )");
    for (const char* order : kOrders) {
        const auto out = results<int>(kernel, order, {.threads = 256, .grid = 3, .shared_bytes = 1024}, 768, nullptr, nullptr, 37);
        for (int i = 0; i < 768; ++i) CHECK(out[static_cast<std::size_t>(i)] == (i % 256 + 37) % 256);
    }
}

TEST_CASE("a missing barrier shows under at least one thread order") {
    // Each thread reads its neighbour's element: it is right only where the neighbour ran before.
    for (const char* step : {"+ 255", "+ 1"}) {
        const auto kernel = compiled(fmt::format(R"(
            tmm::SharedMemory shared;
            int* values = shared.take<int, 256>()[0];
            values[threadIdx.x] = threadIdx.x;
            static_cast<int*>(args.out)[threadIdx.x] = values[(threadIdx.x {}) % 256];
        )",
                                                 step));
        const int distance = std::atoi(step + 2);
        int wrong_orders = 0;
        for (const char* order : {"ascending", "descending", "shuffled"}) {
            const auto out = results<int>(kernel, order, {.threads = 256, .shared_bytes = 1024}, 256);
            bool wrong = false;
            for (int i = 0; i < 256; ++i) wrong |= out[static_cast<std::size_t>(i)] != (i + distance) % 256;
            wrong_orders += wrong;
        }
        CHECK(wrong_orders > 0);
    }
}

TEST_CASE("an asynchronous copy lands at its wait, not before") {
    const auto kernel = compiled(R"(
        tmm::SharedMemory shared;
        const auto tiles = shared.take<float, 32 * 4, 2>();
        float* first = tiles[0] + threadIdx.x * 4;
        float* second = tiles[1] + threadIdx.x * 4;
        const float* in = static_cast<const float*>(args.in);
        float* out = static_cast<float*>(args.out) + threadIdx.x * 6;
        tmm::ptx::cp_async_16(first, in + threadIdx.x * 4, 16);
        tmm::ptx::cp_async_commit_group();
        tmm::ptx::cp_async_16(second, in + threadIdx.x * 4, 8);
        tmm::ptx::cp_async_commit_group();
        out[0] = first[0];
        tmm::ptx::cp_async_wait_group<1>();
        out[1] = first[3];
        out[2] = second[0];
        tmm::ptx::cp_async_wait_group<0>();
        out[3] = second[1];
        out[4] = second[2];
        tmm::ptx::cp_async_4(first, in, 0);
        tmm::ptx::cp_async_wait_group<0>();
        out[5] = first[0];
    )");
    std::vector<float> in(128);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
    for (const char* order : {"ascending", "descending"}) {
        const auto out = results<float>(kernel, order, {.shared_bytes = 1024}, 192, in.data());
        for (std::size_t thread = 0; thread < 32; ++thread) {
            const float* const got = &out[thread * 6];
            const float value = static_cast<float>(thread * 4);
            CHECK(std::isnan(got[0]));
            CHECK(got[1] == value + 4);
            CHECK(std::isnan(got[2]));
            CHECK(got[3] == value + 2);
            CHECK(got[4] == 0);          // past source_bytes
            CHECK(got[5] == value + 1);  // its group was never closed
        }
    }
    // In shuffled order a copy may land at any time up to its wait.
    const auto out = results<float>(kernel, "shuffled:3", {.shared_bytes = 1024}, 192, in.data());
    int early = 0;
    for (std::size_t thread = 0; thread < 32; ++thread) {
        early += !std::isnan(out[thread * 6]);
        CHECK(out[thread * 6 + 1] == static_cast<float>(thread * 4 + 4));
        CHECK(out[thread * 6 + 3] == static_cast<float>(thread * 4 + 2));
    }
    CHECK(early > 0);
    CHECK(early < 32);
}

TEST_CASE("a misaligned access is a fault that names access, address, alignment and kernel") {
    struct Access {
        const char* what;
        int alignment;
        const char* code;
    };
    constexpr Access kAccesses[] = {
        {"a thread loads", 16, "numbers[0] = tmm::load_vector<4>(numbers).element[3];"},
        {"a thread loads", 8, "numbers[0] = tmm::load_vector<2>(numbers).element[1];"},
        {"a thread loads", 16, "halves[0] = tmm::load_vector<8>(halves).element[7];"},
        {"a thread loads", 4, "halves[0] = tmm::load_vector<2>(halves).element[1];"},
        {"a thread loads", 16, "halves[0].bits = tmm::read_chunk(halves, halves, halves + 8).element[0] & 0xffff;"},
        {"a thread loads", 16, "unsigned words[4]; tmm::ptx::ld_global_evict_first(words, at); numbers[0] = words[0];"},
        {"a thread stores", 16, "tmm::store_vector(numbers, tmm::Vector<float, 4>{});"},
        {"a thread stores", 4, "tmm::store_vector(halves, tmm::Vector<Half, 2>{});"},
        {"a thread stores", 16, "tmm::store_vector_global(numbers, tmm::Vector<float, 4>{});"},
        {"a thread stores", 8, "tmm::store_vector_global(halves, tmm::Vector<Half, 4>{});"},
        {"a thread stores", 4, "tmm::store_vector_global(halves, tmm::Vector<Half, 2>{});"},
        {"cp.async reads", 16, "tmm::ptx::cp_async_16(tile, at, 16);"},
        {"cp.async reads", 8, "tmm::ptx::cp_async_8(tile, at, 8);"},
        {"cp.async reads", 4, "tmm::ptx::cp_async_4(tile, at, 4);"},
        {"cp.async writes", 16, "tmm::ptx::cp_async_16(reinterpret_cast<char*>(tile) + args.n, args.in, 16);"},
    };
    constexpr std::size_t kCount = std::size(kAccesses);
    std::string body = R"(
        using Half = tmm::Element<tmm::ElementType::f16>;
        tmm::SharedMemory shared;
        float* tile = shared.take<float, 8>()[0];
        char* const at = static_cast<char*>(args.out) + args.n;
        float* const numbers = reinterpret_cast<float*>(at);
        Half* const halves = reinterpret_cast<Half*>(at);
        switch (blockIdx.x) {
    )";
    for (std::size_t i = 0; i < kCount; ++i) body += fmt::format("case {}: {{ {} break; }}\n", i, kAccesses[i].code);
    const auto kernel = compiled(body + "}");
    alignas(16) float memory[12] = {};
    alignas(16) const float in[4] = {};
    const auto fault_of = [&](std::size_t access, int offset) {
        // The blocks before it read and write at aligned addresses, or the first fault would be another's.
        return fault(kernel, "descending", {.threads = 1, .grid = static_cast<std::int64_t>(access) + 1, .shared_bytes = 32},
                     {memory, in, nullptr, offset});
    };
    CHECK(fault_of(kCount - 1, 0) == "");
    CHECK(fault_of(kCount - 1, 16) == "");
    for (std::size_t i = 0; i < kCount; ++i) {
        const Access& access = kAccesses[i];
        const int offset = access.alignment / 2;
        const std::string text = fault_of(i, offset);
        CAPTURE(text);
        CHECK(contains(text, std::string(access.what) + " at 0x"));
        if (access.what != std::string("cp.async writes"))
            CHECK(contains(text, fmt::format("{}", static_cast<void*>(reinterpret_cast<char*>(memory) + offset))));
        CHECK(contains(text, fmt::format("no multiple of {} bytes", access.alignment)));
        CHECK(contains(text, fmt::format("block {}, thread 0", i)));
        CHECK(text.starts_with("test_kernel: "));
    }
}

TEST_CASE("a tensor map of a matrix that TMA can't take is refused") {
    const auto device = make_host_device("ascending");
    TensorMap map;
    const auto refusal = [&](const TensorMapRequest& request) -> std::string {
        try {
            device->encode_tensor_map(request, &map);
        } catch (const LaunchRefused& error) {
            return error.what();
        }
        return "";
    };
    const auto* const address = reinterpret_cast<const void*>(std::uintptr_t{0x1000});
    const TensorMapRequest good{
        .address = address, .rows = 8, .columns = 8, .row_bytes = 16, .matrix_bytes = 128, .box_rows = 8, .box_columns = 8};
    CHECK(refusal(good) == "");
    TensorMapRequest other = good;
    other.address = reinterpret_cast<const void*>(std::uintptr_t{0x1008});
    CHECK(refusal(other) == "a tensor map's address is 0x1008, which is no multiple of 16 bytes");
    CHECK_THROWS_AS(device->set_address(&map, other.address), LaunchRefused);
    CHECK_NOTHROW(device->set_address(&map, address));
    other = good;
    other.row_bytes = 18;
    CHECK(contains(refusal(other), "distance of rows is 0x12"));
    other = good;
    other.matrix_bytes = 136;
    CHECK(contains(refusal(other), "distance of matrices is 0x88"));
}

TEST_CASE("a launch's arguments may lie anywhere, whatever alignment a tensor map in them has") {
    const KernelSource source{.name = "test_kernel",
                              .text = R"(
#include "tmm/vocabulary/tensor_map.h"
struct Args { tmm::TensorMap map; int* out; };
extern "C" __global__ void test_kernel(const __grid_constant__ Args args) {
    args.out[0] = reinterpret_cast<unsigned long>(&args.map) % alignof(tmm::TensorMap) == 0;
    for (unsigned long long word : args.map.words) args.out[1] += static_cast<int>(word);
}
)",
                              .entries = {{"test_kernel", "Args"}}};
    CompileResult result = make_host_compiler()->compile(source);
    if (const auto* failure = std::get_if<CompileFailure>(&result)) FAIL(failure->log);
    struct Args {
        TensorMap map;
        int* out;
    };
    int out[2] = {};
    Args args{};
    args.out = out;
    for (auto& word : args.map.words) word = 3;
    const auto device = make_host_device("ascending");
    const auto loaded = device->load(std::get<CompiledKernel>(result), "test_kernel");
    for (std::size_t offset = 0; offset < 16; ++offset) {
        std::vector<std::byte> moved(sizeof args + offset);
        std::memcpy(moved.data() + offset, &args, sizeof args);
        out[1] = 0;
        const auto run = [&](Stream stream) { device->launch(*loaded, {}, moved.data() + offset, sizeof args, stream); };
        run(nullptr);
        device->record(run)->run_timed();
        CHECK(out[0] == 1);
        CHECK(out[1] == 2 * 3 * static_cast<int>(std::size(args.map.words)));
    }
}

TEST_CASE("shared memory is NaN until it is written, in every block") {
    const auto kernel = compiled(R"(
        tmm::SharedMemory shared;
        float* tile = shared.take<float, 17>()[0];
        double* numbers = shared.take<double, 4>()[0];
        float* out = static_cast<float*>(args.out) + blockIdx.x * 2;
        out[0] = tile[16];
        out[1] = static_cast<float>(numbers[3]);
        tile[16] = 1;
        numbers[3] = 1;
    )");
    for (const float value : results<float>(kernel, "ascending", {.threads = 1, .grid = 4, .shared_bytes = 112}, 8))
        CHECK(std::isnan(value));
}

TEST_CASE("a kernel that takes more shared memory than it was given is told so") {
    const auto kernel = compiled("tmm::SharedMemory shared; shared.take<float, 100>();");
    CHECK(fault(kernel, "ascending", {.threads = 64, .shared_bytes = 400}) == "");
    CHECK(contains(fault(kernel, "ascending", {.threads = 64, .shared_bytes = 384}),
                   "the kernel takes 400 bytes of shared memory and was launched with 384"));
}

TEST_CASE("barrier divergence is a fault that names who waits where, never a hang") {
    SUBCASE("some threads have ended") {
        const auto kernel = compiled("if (threadIdx.x < 40) __syncthreads();");
        for (const char* order : kOrders) {
            const std::string text = fault(kernel, order, {.threads = 64, .grid = 2});
            CHECK(contains(text, "barrier divergence in block"));
            CHECK(contains(text, "40 threads (the first is 0) at __syncthreads at test_kernel:"));
            CHECK(contains(text, "24 threads (the first is 40) exited"));
        }
    }
    SUBCASE("threads wait at different barriers") {
        const auto kernel = compiled("if (threadIdx.x % 2)\n__syncthreads();\nelse\n__syncthreads();");
        for (const char* order : kOrders) CHECK(contains(fault(kernel, order, {.threads = 64}), "barrier divergence"));
    }
    SUBCASE("a lane of a shuffle's mask does not come") {
        const auto kernel = compiled("if (threadIdx.x) static_cast<int*>(args.out)[0] = __shfl_sync(0xffffffffu, 1, 0);");
        int out = 0;
        for (const char* order : kOrders) CHECK(contains(fault(kernel, order, {}, {&out, nullptr, nullptr, 0}), "31 threads"));
    }
    SUBCASE("a warp waits at a shuffle and others at a barrier") {
        const auto kernel = compiled("if (threadIdx.x < 16) __syncwarp(); else __syncthreads();");
        for (const char* order : kOrders) {
            const std::string text = fault(kernel, order, {});
            CHECK(contains(text, "__syncwarp over lanes 0xffffffff"));
            CHECK(contains(text, "16 threads (the first is 16) at __syncthreads"));
        }
    }
    SUBCASE("the device goes on working after a fault") {
        const auto bad = compiled("tmm::SharedMemory shared; shared.take<int, 4>()[0][1] = 1; if (threadIdx.x) __syncthreads();");
        const auto good = compiled("__syncthreads(); static_cast<int*>(args.out)[threadIdx.x] = threadIdx.x;");
        for (int i = 0; i < 3; ++i) {
            CHECK(contains(fault(bad, "ascending", {.threads = 300, .shared_bytes = 16}), "barrier divergence"));
            const auto out = results<int>(good, "ascending", {.threads = 300}, 300);
            for (int thread = 0; thread < 300; ++thread) CHECK(out[static_cast<std::size_t>(thread)] == thread);
        }
    }
}

TEST_CASE("launches that a GPU would refuse are refused") {
    const auto device = make_host_device("ascending");
    const auto kernel = device->load(compiled(""), "test_kernel");
    const Args args{};
    CHECK_THROWS_AS(device->launch(*kernel, {.grid = 0, .threads = 32, .cluster = 1, .shared_bytes = 0}, &args, sizeof args, nullptr),
                    LaunchRefused);
    CHECK_THROWS_AS(
        device->launch(*kernel, {.grid = 1LL << 31, .threads = 32, .cluster = 1, .shared_bytes = 0}, &args, sizeof args, nullptr),
        LaunchRefused);
    CHECK_THROWS_AS(device->launch(*kernel, {.grid = 1, .threads = 1025, .cluster = 1, .shared_bytes = 0}, &args, sizeof args, nullptr),
                    LaunchRefused);
    CHECK_THROWS_AS(device->launch(*kernel, {.grid = 1, .threads = 32, .cluster = 2, .shared_bytes = 0}, &args, sizeof args, nullptr),
                    LaunchRefused);
    CHECK_THROWS_AS(
        device->launch(*kernel, {.grid = 1, .threads = 32, .cluster = 1, .shared_bytes = 164 << 10}, &args, sizeof args, nullptr),
        LaunchRefused);
    CHECK_THROWS_AS(device->load(compiled(""), "another"), Error);
    CHECK_THROWS_AS(device->load(CompiledKernel{}, "test_kernel"), Error);
}

TEST_CASE("recorded launches run at each replay with the arguments they were recorded with") {
    const auto device = make_host_device("ascending");
    const auto kernel = device->load(compiled("static_cast<int*>(args.out)[0] += args.n;"), "test_kernel");
    int sum = 0;
    const auto replay = device->record([&](Stream stream) {
        for (const int n : {1, 10}) {
            const Args args{&sum, nullptr, nullptr, n};
            device->launch(*kernel, {.grid = 1, .threads = 1, .cluster = 1, .shared_bytes = 0}, &args, sizeof args, stream);
        }
    });
    CHECK(sum == 0);
    CHECK(replay->run_timed() >= 0);
    CHECK(sum == 11);
    replay->run_timed();
    CHECK(sum == 22);
    const Args args{&sum, nullptr, nullptr, 100};
    device->launch(*kernel, {.grid = 1, .threads = 1, .cluster = 1, .shared_bytes = 0}, &args, sizeof args, reinterpret_cast<Stream>(1));
    CHECK(sum == 122);
}

TEST_CASE("several threads of a process launch at once") {
    const auto kernel = compiled(R"(
        tmm::SharedMemory shared;
        int* values = shared.take<int, 128>()[0];
        values[threadIdx.x] = args.n;
        __syncthreads();
        int sum = 0;
        for (int i = 0; i < 128; ++i) sum += values[i];
        static_cast<int*>(args.out)[blockIdx.x * 128 + threadIdx.x] = sum;
    )");
    const auto device = make_host_device("ascending");
    const auto loaded = device->load(kernel, "test_kernel");
    std::vector<std::vector<int>> out(4, std::vector<int>(128 * 20));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            const Args args{out[static_cast<std::size_t>(i)].data(), nullptr, nullptr, i + 1};
            device->launch(*loaded, {.grid = 20, .threads = 128, .shared_bytes = 512}, &args, sizeof args, nullptr);
        });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < 4; ++i)
        for (const int value : out[static_cast<std::size_t>(i)]) CHECK(value == 128 * (i + 1));
}

TEST_CASE("an unknown thread order is refused with the known ones") {
    for (const char* order : {"", "up", "shuffled:", "shuffled:x", "shuffled:1x", "straggling", "straggling:x"}) {
        CHECK_THROWS_AS(make_host_device(order), Error);
        CHECK_THROWS_WITH_AS(make_host_device(order), doctest::Contains("descending"), Error);
    }
}

TEST_CASE("a kernel that does not compile gives the compiler's log, with the place in the stub") {
    const KernelSource source{
        .name = "broken", .text = "\nextern \"C\" __global__ void broken(int n) { undeclared = n; }", .entries = {{"broken", "int"}}};
    const CompileResult result = make_host_compiler()->compile(source);
    REQUIRE(std::holds_alternative<CompileFailure>(result));
    CHECK(contains(std::get<CompileFailure>(result).log, "broken:2:"));
    CHECK(contains(std::get<CompileFailure>(result).log, "undeclared"));
}

TEST_CASE("without a compiler the error says what to install") {
    const char* const before = std::getenv("TMM_CXX");
    const std::string kept = before ? before : "";
    setenv("TMM_CXX", "/nonexistent/c++", 1);
    try {
        make_host_compiler();
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::no_compiler);
        CHECK(contains(error.what(), "/nonexistent/c++"));
        CHECK(contains(error.what(), "TMM_CXX"));
    }
    if (before)
        setenv("TMM_CXX", kept.c_str(), 1);
    else
        unsetenv("TMM_CXX");
}

TEST_CASE("out-of-range accesses to shared memory are found") {
    const auto kernel = compiled(R"(
        tmm::SharedMemory shared;
        float* first = shared.take<float, 33>()[0];
        float* second = shared.take<float, 32>()[0];
        second[0] = 1;
        first[args.n] = 1;
    )");
    const Shape shape{.threads = 1, .shared_bytes = 272};
    CHECK(fault(kernel, "ascending", shape, {nullptr, nullptr, nullptr, 32}) == "");
    for (const int n : {33, 36, -1}) {
        const Args args{nullptr, nullptr, nullptr, n};
        if constexpr (sanitizer::kActive) {
            const Death death = in_child([&] { launch(kernel, "ascending", shape, args); });
            CHECK(death.died);
            CHECK(contains(death.report, "AddressSanitizer: use-after-poison"));
        } else {
            CHECK(contains(fault(kernel, "ascending", shape, args), "shared memory was written"));
        }
    }
}

TEST_CASE("out-of-range accesses to global memory abort with a report of AddressSanitizer") {
    if constexpr (!sanitizer::kActive) {
        fmt::print("skipped: built without AddressSanitizer (cmake --preset asan)\n");
        return;
    }
    const auto read = compiled("static_cast<float*>(args.out)[0] = static_cast<const float*>(args.in)[args.n + threadIdx.x];");
    const auto copy = compiled(R"(
        tmm::SharedMemory shared;
        float* tile = shared.take<float, 4>()[0];
        tmm::ptx::cp_async_4(tile, static_cast<const float*>(args.in) + args.n, 4);
    )");
    const auto device = make_host_device("ascending");
    const DeviceBuffer in(device, 100 * sizeof(float));
    float out = 0;
    for (const CompiledKernel* kernel : {&read, &copy}) {
        const Shape shape{.threads = 1, .shared_bytes = 16};
        CHECK_FALSE(in_child([&] { launch(*kernel, "ascending", shape, {&out, in.data(), nullptr, 99}); }).died);
        const Death death = in_child([&] { launch(*kernel, "ascending", shape, {&out, in.data(), nullptr, 100}); });
        CHECK(death.died);
        CHECK(contains(death.report, "AddressSanitizer: heap-buffer-overflow"));
        CHECK(contains(death.report, "test_kernel"));
    }
}

TEST_CASE("blocks of a cluster read each other's shared memory") {
    const auto body = [](const std::string& before, const std::string& after) {
        return R"(
            tmm::SharedMemory shared;
            int* mine = shared.take<int, 40>()[0];
            mine[threadIdx.x] = static_cast<int>(100 * blockIdx.x + threadIdx.x);
            __syncthreads();
            )" +
               before + R"(
            int sum = 0;
            for (int rank = 0; rank < 4; ++rank) sum += *tmm::ptx::mapa(mine + (threadIdx.x + 1) % 40, rank);
            static_cast<int*>(args.out)[blockIdx.x * 40 + threadIdx.x] = sum + static_cast<int>(tmm::ptx::cluster_ctarank());
            )" +
               after;
    };
    const std::string sync = "tmm::ptx::cluster_sync();";
    const Shape shape{.threads = 40, .grid = 8, .shared_bytes = 160, .cluster = 4};
    std::vector<int> expected;
    for (int block = 0; block < 8; ++block)
        for (int thread = 0; thread < 40; ++thread) expected.push_back(100 * (16 * (block / 4) + 6) + 4 * ((thread + 1) % 40) + block % 4);

    const auto right = compiled(body(sync, sync));
    const auto unready = compiled(body("", sync));
    const auto ended = compiled(body(sync, ""));
    bool unready_seen = false;
    bool ended_seen = false;
    for (const char* order : kOrders) {
        INFO(order);
        CHECK(results<int>(right, order, shape, 320) == expected);
        std::vector<int> out(320);
        const std::string first = fault(unready, order, shape, {out.data(), nullptr, nullptr, 0});
        unready_seen |= !first.empty() || out != expected;
        ended_seen |= contains(fault(ended, order, shape, {out.data(), nullptr, nullptr, 0}), "block that has ended");
    }
    CHECK(unready_seen);
    CHECK(ended_seen);
}

TEST_CASE("misuse of clusters is found") {
    const auto kernel = compiled(R"(
        tmm::SharedMemory shared;
        const int* mine = shared.take<int, 1>()[0];
        tmm::ptx::cluster_sync();
        const int* theirs = tmm::ptx::mapa(args.n == 9 ? static_cast<const int*>(args.in) : mine, args.n % 8);
        tmm::ptx::cluster_sync();
        static_cast<const int**>(args.out)[blockIdx.x] = theirs;
    )");
    const int* out[4];
    const int elsewhere = 0;
    const auto with = [&](int n, const Shape& shape) { return fault(kernel, "ascending", shape, {out, &elsewhere, nullptr, n}); };
    const Shape pairs{.threads = 1, .grid = 4, .shared_bytes = 16, .cluster = 2};
    CHECK(with(1, pairs) == "");
    CHECK(out[0] == out[1]);
    CHECK(contains(with(2, pairs), "a cluster of 2 blocks has no block 2"));
    CHECK(contains(with(9, pairs), "no tile of shared memory"));
    CHECK_THROWS_WITH_AS(with(0, {.threads = 1, .grid = 3, .shared_bytes = 16, .cluster = 2}),
                         doctest::Contains("3 blocks are not divided into clusters of 2"), LaunchRefused);
    CHECK_THROWS_AS(with(0, {.threads = 1, .grid = 32, .shared_bytes = 16, .cluster = 16}), LaunchRefused);

    const auto divergent = compiled("if (blockIdx.x % 2 == 0) tmm::ptx::cluster_sync();");
    CHECK(contains(fault(divergent, "ascending", {.threads = 2, .grid = 4, .cluster = 2}), "in the cluster of blocks 0 to 1"));
    CHECK(contains(fault(divergent, "ascending", {.threads = 2, .grid = 4, .cluster = 2}), "cluster_sync"));
}
