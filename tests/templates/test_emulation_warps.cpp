// Tests what the lanes of a warp do together on the emulated device: shuffles, votes, and the matrix instructions.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/kernels/emulation_testing.h"

using namespace tmm;
using namespace emulation_testing;

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
                        // Sums of products of 16-bit numbers are exact.
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
    CHECK_MESSAGE(contains(misaligned, "ldmatrix reads at 0x"), misaligned);
    const std::string missing_lane = fault(kernel, "ascending", {.shared_bytes = 1024}, {out.data(), nullptr, nullptr, 8});
    CHECK_MESSAGE(contains(missing_lane, "barrier divergence"), missing_lane);
    CHECK_MESSAGE(contains(missing_lane, "an operation of the whole warp"), missing_lane);
    const std::string small_warp = fault(kernel, "ascending", {.threads = 40, .shared_bytes = 1024}, {out.data(), nullptr, nullptr, 0});
    CHECK_MESSAGE(contains(small_warp, "fewer than 32 threads"), small_warp);
}
