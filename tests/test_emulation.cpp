// The emulated device: CUDA's built-ins, barriers, shuffles, asynchronous copies, shared memory and arithmetic as on a GPU, and
// the errors that it is there to find.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "generator/error.h"
#include "runtime/host_device.h"
#include "runtime/sanitizer.h"
#include "support_temporary_directory.h"

using namespace tmm;

namespace {

// What every kernel of this file takes.
struct Args {
    void* out;
    const void* in;
    const void* other;
    int n;
};
constexpr const char* kHead = R"(
#include "tmm/element.cuh"
#include "tmm/ptx.cuh"
#include "tmm/shared_memory.cuh"
struct Args { void* out; const void* in; const void* other; int n; };
)";
constexpr const char* kOrders[] = {"ascending", "descending", "shuffled:1", "shuffled:2"};

CompiledKernel compiled(const std::string& body) {
    const KernelSource source{
        .name = "test_kernel",
        .text = std::string(kHead) + "extern \"C\" __global__ void test_kernel(const __grid_constant__ Args args) {\n" + body + "\n}\n",
        .entries = {{"test_kernel", "Args"}}};
    CompileResult result = make_host_compiler()->compile(source);
    if (const auto* failure = std::get_if<CompileFailure>(&result)) FAIL(failure->log);
    return std::get<CompiledKernel>(std::move(result));
}

struct Shape {
    int threads = 32;
    std::int64_t grid = 1;
    std::int64_t shared_bytes = 0;
    int cluster = 1;
};

void launch(const CompiledKernel& kernel, const std::string& order, const Shape& shape, const Args& args) {
    const auto device = make_host_device(order);
    const auto loaded = device->load(kernel, "test_kernel", shape.shared_bytes);
    device->launch(*loaded, {.grid = shape.grid, .threads = shape.threads, .cluster = shape.cluster, .shared_bytes = shape.shared_bytes},
                   &args, sizeof args, nullptr);
}

template <class T>
std::vector<T> results(const CompiledKernel& kernel, const std::string& order, const Shape& shape, std::size_t count,
                       const void* in = nullptr, const void* other = nullptr, int n = 0) {
    std::vector<T> out(count);
    launch(kernel, order, shape, {out.data(), in, other, n});
    return out;
}

std::string fault(const CompiledKernel& kernel, const std::string& order, const Shape& shape, const Args& args = {}) {
    try {
        launch(kernel, order, shape, args);
    } catch (const DeviceFault& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Runs it in a process of its own: what that wrote to stderr, and whether it died.
struct Death {
    bool died = false;
    std::string report;
};
template <class Function>
Death in_child(Function&& function) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    // Where it may leave files behind.
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
    // Each thread reads its neighbour's element: right only where that ran before.
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

TEST_CASE("shuffles and votes exchange the values of a warp's lanes") {
    const auto kernel = compiled(R"(
        const int lane = threadIdx.x % 32;
        const int value = threadIdx.x * 10;
        int* out = static_cast<int*>(args.out) + threadIdx.x * 10;
        out[0] = __shfl_sync(0xffffffffu, value, 5);
        out[1] = __shfl_sync(0xffffffffu, value, 3, 8);
        out[2] = __shfl_xor_sync(0xffffffffu, value, 16);
        out[3] = __shfl_down_sync(0xffffffffu, value, 4);
        out[4] = __shfl_up_sync(0xffffffffu, value, 4, 16);
        out[5] = static_cast<int>(__ballot_sync(0xffffffffu, lane % 2));
        out[6] = __any_sync(0xffffffffu, lane == 31);
        out[7] = __all_sync(0xffffffffu, lane < 31);
        float sum = value;
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        out[8] = static_cast<int>(sum);
        const double half = __shfl_xor_sync(lane < 16 ? 0x0000ffffu : 0xffff0000u, value + 0.5, 8);
        out[9] = static_cast<int>(2 * half);
    )");
    for (const char* order : kOrders) {
        const auto out = results<int>(kernel, order, {.threads = 96}, 960);
        for (int thread = 0; thread < 96; ++thread) {
            const int lane = thread % 32;
            const int first = thread - lane;
            const int* const got = &out[static_cast<std::size_t>(thread) * 10];
            CHECK(got[0] == (first + 5) * 10);
            CHECK(got[1] == (first + lane / 8 * 8 + 3) * 10);
            CHECK(got[2] == (first + (lane ^ 16)) * 10);
            CHECK(got[3] == (first + (lane + 4 < 32 ? lane + 4 : lane)) * 10);
            CHECK(got[4] == (first + (lane % 16 >= 4 ? lane - 4 : lane)) * 10);
            CHECK(static_cast<unsigned>(got[5]) == 0xaaaaaaaau);
            CHECK(got[6] == 1);
            CHECK(got[7] == 0);
            CHECK(got[8] == first * 320 + 4960);
            CHECK(got[9] == (first + (lane ^ 8)) * 20 + 1);
        }
    }
}

TEST_CASE("lanes that a block does not have are left out of a warp's mask") {
    const auto kernel = compiled("static_cast<int*>(args.out)[threadIdx.x] = __ballot_sync(0xffffffffu, 1);");
    for (const char* order : kOrders)
        for (const int value : results<int>(kernel, order, {.threads = 5}, 5)) CHECK(value == 31);
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

TEST_CASE("misaligned asynchronous copies are faults") {
    const auto kernel = compiled(R"(
        tmm::SharedMemory shared;
        float* tile = shared.take<float, 8>()[0];
        tmm::ptx::cp_async_16(tile, static_cast<const float*>(args.in) + 1, 16);
    )");
    alignas(16) const float in[8] = {};
    const std::string text = fault(kernel, "ascending", {.threads = 1, .shared_bytes = 32}, {nullptr, in, nullptr, 0});
    CHECK(contains(text, "cp.async from a misaligned address (test_kernel:"));
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

TEST_CASE("fused multiply-adds have one rounding, and nothing else is fused") {
    const auto kernel = compiled(R"(
        const float* x = static_cast<const float*>(args.in) + threadIdx.x * 3;
        float* out = static_cast<float*>(args.out) + threadIdx.x * 3;
        out[0] = fmaf(x[0], x[1], x[2]);
        out[1] = __fmaf_rn(x[0], x[1], x[2]);
        out[2] = x[0] * x[1] + x[2];
    )");
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> in(3 * 1024);
    for (float& value : in) value = normal(random);
    in[0] = 1 + 0x1p-12f;
    in[1] = 1 + 0x1p-12f;
    in[2] = -1;
    in[3] = 0x1p-100f;  // the product is below the smallest denormal
    in[4] = 0x1p-60f;
    in[5] = 1;
    const auto out = results<float>(kernel, "ascending", {.threads = 1024}, 3 * 1024, in.data());
    for (std::size_t i = 0; i < 1024; ++i) {
        const float expected = std::fma(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
        CHECK(std::memcmp(&out[3 * i], &expected, 4) == 0);
        CHECK(std::memcmp(&out[3 * i + 1], &expected, 4) == 0);
        volatile float product = in[3 * i] * in[3 * i + 1];
        const float separate = product + in[3 * i + 2];
        CHECK(std::memcmp(&out[3 * i + 2], &separate, 4) == 0);
    }
    CHECK(out[0] == 0x1p-11f + 0x1p-24f);
    CHECK(out[2] == 0x1p-11f);
}

TEST_CASE("16-bit numbers become floats, and floats 16-bit numbers, as IEEE 754 rounds them") {
    constexpr std::size_t kNumbers = 1 << 16;
    std::vector<std::uint16_t> all(kNumbers);
    for (std::size_t i = 0; i < kNumbers; ++i) all[i] = static_cast<std::uint16_t>(i);
    const auto widened = [&](const char* type) {
        const auto kernel = compiled(fmt::format(R"(
            for (int i = threadIdx.x; i < args.n; i += blockDim.x)
                static_cast<float*>(args.out)[i] = tmm::to_float(tmm::{}{{static_cast<const unsigned short*>(args.in)[i]}});
        )",
                                                 type));
        return results<float>(kernel, kOrders[0], {}, kNumbers, all.data(), nullptr, kNumbers);
    };
    const auto same = [](float x, float y) {
        return std::isnan(x) ? std::isnan(y) : std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
    };
    const std::vector<float> from_f16 = widened("Half");
    const std::vector<float> from_bf16 = widened("Bfloat16");
    int wrong = 0;
    for (std::size_t i = 0; i < kNumbers; ++i) {
        wrong += !same(from_f16[i], static_cast<float>(std::bit_cast<_Float16>(all[i])));
        wrong += std::bit_cast<std::uint32_t>(from_bf16[i]) != static_cast<std::uint32_t>(i) << 16;
    }
    CHECK(wrong == 0);

    // Every f16 and bf16, what lies halfway to the next and a float to either side of both, and any floats.
    std::vector<float> wide;
    for (const std::vector<float>* numbers : {&from_f16, &from_bf16}) {
        for (std::size_t i = 0; i + 1 < kNumbers; ++i) {
            const auto bits = std::bit_cast<std::uint32_t>((*numbers)[i]);
            const std::uint32_t half = numbers == &from_f16 ? 0x1000 : 0x8000;
            for (const std::uint32_t beside : {bits - 1, bits, bits + 1, bits + half - 1, bits + half, bits + half + 1})
                wide.push_back(std::bit_cast<float>(beside));
            // f16's subnormals have other distances.
            const float next = (*numbers)[i + 1];
            if (std::isfinite(next) && std::fabs(next) < 1) wide.push_back(((*numbers)[i] + next) / 2);
        }
    }
    std::mt19937 random(3);
    for (int i = 0; i < 200000; ++i) wide.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    for (const float value : {65504.0f, 65519.996f, 65520.0f, 65536.0f, 1e30f, 3.4e38f}) wide.insert(wide.end(), {value, -value});
    const auto narrowed = [&](const char* type) {
        const auto kernel = compiled(fmt::format(R"(
            for (int i = threadIdx.x; i < args.n; i += blockDim.x)
                static_cast<unsigned short*>(args.out)[i] = tmm::from_float<tmm::{}>(static_cast<const float*>(args.in)[i]).bits;
        )",
                                                 type));
        return results<std::uint16_t>(kernel, kOrders[0], {}, wide.size(), wide.data(), nullptr, static_cast<int>(wide.size()));
    };
    const std::vector<std::uint16_t> f16 = narrowed("Half");
    const std::vector<std::uint16_t> bf16 = narrowed("Bfloat16");
    int ties = 0;
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(wide[i]);
        if (std::isnan(wide[i])) {
            // The one NaN that PTX makes.
            wrong += f16[i] != 0x7fff || bf16[i] != 0x7fff;
            continue;
        }
        wrong += f16[i] != std::bit_cast<std::uint16_t>(static_cast<_Float16>(wide[i]));
        // The nearer of the two neighbours, or the even one; infinity counts as the number that would come after the largest.
        const std::uint32_t below = bits >> 16;
        const auto distance = [&](std::uint32_t upper_half) {
            const std::uint32_t magnitude = upper_half & 0x7fff;
            const double value = magnitude == 0x7f80 ? 0x1p128 : static_cast<double>(std::bit_cast<float>(magnitude << 16));
            return std::fabs(value - static_cast<double>(std::fabs(wide[i])));
        };
        std::uint32_t expected = below;
        if ((bits & 0xffff) != 0) {
            const double down = distance(below);
            const double up = distance(below + 1);
            ties += down == up;
            expected = up < down || (up == down && (below & 1) != 0) ? below + 1 : below;
        }
        wrong += bf16[i] != expected;
    }
    CHECK(ties > 1000);
    CHECK(wrong == 0);
}

TEST_CASE("launches that a GPU would refuse are refused") {
    const auto device = make_host_device("ascending");
    const auto kernel = device->load(compiled(""), "test_kernel", 0);
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
    CHECK_THROWS_AS(device->load(compiled(""), "another", 0), Error);
    CHECK_THROWS_AS(device->load(CompiledKernel{}, "test_kernel", 0), Error);
}

TEST_CASE("recorded launches run at each replay with the arguments they were recorded with") {
    const auto device = make_host_device("ascending");
    const auto kernel = device->load(compiled("static_cast<int*>(args.out)[0] += args.n;"), "test_kernel", 0);
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
    const auto loaded = device->load(kernel, "test_kernel", 512);
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
    for (const char* order : {"", "up", "shuffled:", "shuffled:x", "shuffled:1x"}) {
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

// The fragments of PTX's mma.m16n8k16: group = lane / 4, thread = lane % 4; of A element i stands in row group (+ 8 for i in 2, 3, 6
// and 7), column 2 * thread + i % 2 (+ 8 for i >= 4); of B in row 2 * thread + i % 2 (+ 8 for i >= 2), column group; of C in row group
// (+ 8 for i >= 2), column 2 * thread + i % 2.
TEST_CASE("mma multiplies fragments as PTX lays them out over a warp's lanes") {
    const char* const body = R"(
        const unsigned short* a = static_cast<const unsigned short*>(args.in);
        const unsigned short* b = static_cast<const unsigned short*>(args.other);
        float* c = static_cast<float*>(args.out) + threadIdx.x / 32 * 128;
        const int group = threadIdx.x % 32 / 4, thread = threadIdx.x % 4;
        unsigned fragment_a[4] = {}, fragment_b[2] = {};
        for (int i = 0; i < 8; ++i) {
            const int row = group + (i / 2 % 2) * 8, column = 2 * thread + i % 2 + i / 4 * 8;
            fragment_a[i / 2] |= static_cast<unsigned>(a[row * 16 + column]) << (i % 2 * 16);
        }
        for (int i = 0; i < 4; ++i) {
            const int row = 2 * thread + i % 2 + i / 2 * 8;
            fragment_b[i / 2] |= static_cast<unsigned>(b[row * 8 + group]) << (i % 2 * 16);
        }
        float sums[4];
        for (int i = 0; i < 4; ++i) sums[i] = c[(group + i / 2 * 8) * 8 + 2 * thread + i % 2];
        if (args.n == 0) tmm::ptx::mma_m16n8k16_f16(sums, fragment_a, fragment_b[0], fragment_b[1]);
        else tmm::ptx::mma_m16n8k16_bf16(sums, fragment_a, fragment_b[0], fragment_b[1]);
        for (int i = 0; i < 4; ++i) c[(group + i / 2 * 8) * 8 + 2 * thread + i % 2] = sums[i];
    )";
    const auto kernel = compiled(body);
    // Values that both types hold: 1 to 2, 7 bits after the point at most.
    const auto value = [](std::size_t i) { return 1 + static_cast<float>(i * 37 % 101) / 128; };
    const auto bits = [](float x, bool bf16) {
        std::uint32_t wide;
        std::memcpy(&wide, &x, sizeof wide);
        // The exponent is 0; f16 has a fraction of 10 bits, bf16 one of 7.
        return static_cast<std::uint16_t>(bf16 ? wide >> 16 : 15 << 10 | (wide >> 13 & 0x3ff));
    };
    for (const char* order : kOrders) {
        for (const int bf16 : {0, 1}) {
            std::vector<std::uint16_t> a(256);
            std::vector<std::uint16_t> b(128);
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = bits(value(i), bf16 != 0);
            for (std::size_t i = 0; i < b.size(); ++i) b[i] = bits(value(i + 1000), bf16 != 0);
            std::vector<float> c(256);
            for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i);
            launch(kernel, order, {.threads = 64}, {c.data(), a.data(), b.data(), bf16});
            for (std::size_t warp = 0; warp < 2; ++warp)
                for (std::size_t i = 0; i < 16; ++i)
                    for (std::size_t j = 0; j < 8; ++j) {
                        float expected = static_cast<float>(warp * 128 + i * 8 + j);
                        // Sums of products of 16 bits: exact.
                        for (std::size_t k = 0; k < 16; ++k) expected += value(i * 16 + k) * value(k * 8 + j + 1000);
                        CHECK(c[warp * 128 + i * 8 + j] == expected);
                    }
        }
    }
}

TEST_CASE("ldmatrix gives each lane its elements of four matrices, and of their transposes") {
    for (const bool transposed : {false, true}) {
        const auto kernel = compiled(fmt::format(R"(
            tmm::SharedMemory shared;
            unsigned short* matrices = shared.take<unsigned short, 32 * 24>()[0];
            // Row r of all stands at row 31 - r, 48 bytes apart.
            for (int i = threadIdx.x; i < 256; i += 32) matrices[(31 - i / 8) * 24 + i % 8] = static_cast<unsigned short>(i);
            __syncwarp();
            unsigned fragments[4];
            tmm::ptx::ldmatrix_x4{}(fragments, matrices + (31 - threadIdx.x) * 24);
            for (int i = 0; i < 4; ++i) static_cast<unsigned*>(args.out)[threadIdx.x * 4 + i] = fragments[i];
        )",
                                                 transposed ? "_trans" : ""));
        for (const char* order : kOrders) {
            const auto out = results<unsigned>(kernel, order, {.shared_bytes = 32 * 48}, 128);
            for (unsigned lane = 0; lane < 32; ++lane)
                for (unsigned matrix = 0; matrix < 4; ++matrix) {
                    const auto element = [&](unsigned row, unsigned column) { return matrix * 64 + row * 8 + column; };
                    const unsigned group = lane / 4;
                    const unsigned pair = lane % 4 * 2;
                    const unsigned low = transposed ? element(pair, group) : element(group, pair);
                    const unsigned high = transposed ? element(pair + 1, group) : element(group, pair + 1);
                    CHECK(out[lane * 4 + matrix] == (low | high << 16));
                }
        }
    }
}

TEST_CASE("misuse of a warp's matrix instructions is found") {
    const char* const load = R"(
        tmm::SharedMemory shared;
        unsigned short* matrices = shared.take<unsigned short, 512>()[0];
        unsigned fragments[4];
        if (args.n == 0 || threadIdx.x % 32 < 31) tmm::ptx::ldmatrix_x4(fragments, matrices + args.n * threadIdx.x);
        static_cast<unsigned*>(args.out)[threadIdx.x] = fragments[0];
    )";
    const auto kernel = compiled(load);
    std::vector<unsigned> out(64);
    const std::string misaligned = fault(kernel, "ascending", {.shared_bytes = 1024}, {out.data(), nullptr, nullptr, 4});
    CHECK_MESSAGE(contains(misaligned, "ldmatrix from a misaligned address"), misaligned);
    const std::string missing_lane = fault(kernel, "ascending", {.shared_bytes = 1024}, {out.data(), nullptr, nullptr, 8});
    CHECK_MESSAGE(contains(missing_lane, "barrier divergence"), missing_lane);
    CHECK_MESSAGE(contains(missing_lane, "an operation of the whole warp"), missing_lane);
    const std::string small_warp = fault(kernel, "ascending", {.threads = 40, .shared_bytes = 1024}, {out.data(), nullptr, nullptr, 0});
    CHECK_MESSAGE(contains(small_warp, "fewer than 32 threads"), small_warp);
}
