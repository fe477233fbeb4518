// Products of s8 are sums of int32, exact modulo 2^32, whichever kernel, layout, size, alpha and beta make them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/temporary_directory.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

using Bytes = std::vector<std::int8_t>;

constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
// C's elements outside of what is computed, and, with beta = 0, those that must not be read.
constexpr std::int32_t kGarbage = 0x5eadbeef;

Bytes random_bytes(std::int64_t count, std::uint32_t seed) {
    Bytes values(static_cast<std::size_t>(count));
    for (std::int8_t& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = static_cast<std::int8_t>(seed >> 24);
    }
    return values;
}

KernelLoader& loader() {
    static const TemporaryDirectory directory;
    static KernelLoader loader(make_host_device_for(assumed_device("90"), "ascending"), make_host_compiler(),
                               KernelCache(directory.path() / "kernels"));
    return loader;
}

struct Scalars {
    std::int32_t alpha = 1;
    std::int32_t beta = 0;
};

std::vector<std::int32_t> expected(const GemmProblem& p, const Bytes& a, const Bytes& b, std::vector<std::int32_t> c, Scalars scalars) {
    for (i64 row = 0; row < p.m; ++row)
        for (i64 column = 0; column < p.n; ++column) {
            std::int64_t sum = 0;
            for (i64 k = 0; k < p.k; ++k)
                sum += a[static_cast<std::size_t>(p.op_a == Operation::none ? row * p.lda + k : k * p.lda + row)] *
                       b[static_cast<std::size_t>(p.op_b == Operation::none ? k * p.ldb + column : column * p.ldb + k)];
            std::int32_t& element = c[static_cast<std::size_t>(row * p.ldc + column)];
            const std::uint64_t before = scalars.beta == 0 ? 0 : static_cast<std::uint64_t>(std::int64_t{scalars.beta} * element);
            element = static_cast<std::int32_t>(
                static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum) * static_cast<std::uint64_t>(std::int64_t{scalars.alpha})) +
                static_cast<std::uint32_t>(before));
        }
    return c;
}

// How many elements of C differ from exact ones.
std::int64_t wrong_elements(const std::string& shape, const std::string& config, Scalars scalars, const Bytes& a, const Bytes& b) {
    const GemmProblem problem = parse_shape(shape + (scalars.beta != 0 ? " beta=1" : "")).problem;
    auto made = ExecutablePlan::make(make_launch_plan(problem, parse_config(config), assumed_device("90")), loader());
    if (const auto* failure = std::get_if<CompileFailure>(&made)) FAIL(failure->log);
    const auto& plan = std::get<ExecutablePlan>(made);
    std::vector<std::int32_t> c(static_cast<std::size_t>(problem.m * problem.ldc), kGarbage);
    for (i64 row = 0; scalars.beta != 0 && row < problem.m; ++row)
        for (i64 column = 0; column < problem.n; ++column)
            c[static_cast<std::size_t>(row * problem.ldc + column)] = static_cast<std::int32_t>(row * 40503 - column * 104729);
    const std::vector<std::int32_t> right = expected(problem, a, b, c, scalars);
    std::vector<std::int64_t> workspace(static_cast<std::size_t>(plan.plan().workspace_bytes / 8 + 64));
    plan.run({.a = a.data(),
              .b = b.data(),
              .c = c.data(),
              .workspace = workspace.data() + 32 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 256 / 8,
              .alpha = static_cast<double>(scalars.alpha),
              .beta = static_cast<double>(scalars.beta)},
             nullptr);
    loader().device()->synchronize();
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < c.size(); ++i) wrong += c[i] != right[i];
    return wrong;
}
std::int64_t wrong_elements(const std::string& shape, const std::string& config, Scalars scalars) {
    const GemmProblem p = parse_shape(shape).problem;
    return wrong_elements(shape, config, scalars, random_bytes(stored_rows_a(p) * p.lda, 1), random_bytes(stored_rows_b(p) * p.ldb, 2));
}

// A config, and the shapes that it multiplies: with every layout and every kind of edge among them.
struct Product {
    const char* config;
    std::vector<const char*> shapes;
};
const Product kProducts[] = {
    {"family=naive,block_m=4,block_n=8", {"19x13x21", "1x1x1 ops=nt", "19x13x21 ops=tt ldc=17"}},
    {"family=tiled,block_m=8,block_n=8,block_k=8", {"19x13x21", "8x8x8 ops=nt", "7x9x23 ops=tn"}},
    {"family=simt,block_m=32,block_n=64,block_k=8,thread_m=8,thread_n=8,vector_width=4",
     {"45x75x21 ops=tt", "33x65x9 ldb=68", "31x63x7 ops=tn lda=32 ldb=64"}},
    {"family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=3,async_copy=1,vector_width=4",
     {"48x64x24 ops=tn", "20x36x22 ops=tn"}},
    {"family=simt,block_m=16,block_n=32,block_k=16,thread_m=4,thread_n=4,stages=3,async_copy=2,vector_width=4,boundary=peeled",
     {"20x36x24", "20x36x24 ops=tt"}},
    {"family=simt,block_m=16,block_n=32,block_k=16,thread_m=4,thread_n=4,stages=3,async_copy=1,along_k=1,vector_width=4,boundary=peeled",
     {"33x43x44 ops=nt", "16x32x16 ops=nt", "17x31x4 ops=nt"}},
    {"family=simt,block_m=16,block_n=32,block_k=16,thread_m=4,thread_n=4,along_k=1,slice_k=2,vector_width=2,boundary=peeled",
     {"45x75x64 ops=nt", "45x75x63 ops=nt", "15x33x61 ops=nn"}},
    {"family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,split_k=4,vector_width=4", {"45x75x100", "45x75x33 ops=tt"}},
    {"family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,split_k=4,cluster=4,vector_width=4", {"45x75x100"}},
    {"family=simt,block_m=32,block_n=64,block_k=8,thread_m=8,thread_n=8,stream_k=1,vector_width=4", {"700x800x64"}},
    {"family=gemv,block_m=2,block_n=32,block_k=16,thread_n=4,vector_width=2", {"2x75x70", "1x31x15 ops=tn"}},
    {"family=gemv,block_m=1,block_n=8,block_k=512,thread_n=2,vector_width=16,boundary=peeled", {"1x80x1040 ops=nt", "1x77x1000 ops=nt"}},
    {"family=gemv,block_m=4,block_n=64,block_k=128,thread_n=16,vector_width=16,boundary=peeled,split_k=2", {"4x192x256", "3x177x199"}},
    {"family=mma,block_m=16,block_n=16,block_k=32,vector_width=1", {"17x13x35", "5x33x31 ops=nt", "16x16x32 ops=tn", "1x1x1 ops=tt"}},
    {"family=mma,block_m=32,block_n=64,block_k=64,warps_n=2,stages=3,async_copy=1,vector_width=16,boundary=peeled",
     {"45x80x100 lda=112", "45x75x100 ops=nt lda=112 ldb=112", "48x80x64 ops=tn", "33x63x65 ops=tt lda=48 ldb=80"}},
    {"family=mma,block_m=64,block_n=32,block_k=32,warps_m=2,stages=4,async_copy=1,vector_width=4,boundary=peeled,split_k=3",
     {"72x40x200", "72x40x200 ops=nt", "72x40x200 ops=tn", "72x40x200 ops=tt"}},
    {"family=wgmma,block_m=64,block_n=48,block_k=128,stages=3,vector_width=16,boundary=hardware",
     {"70x52x272 ops=nt", "64x48x128 ops=nt ldc=53", "1x1x1 ops=nt lda=16 ldb=16", "130x97x513 ops=nt lda=528 ldb=544"}},
    {"family=wgmma,block_m=128,block_n=24,block_k=256,stages=2,vector_width=16,boundary=peeled,warps_m=2,swap_ab=1",
     {"25x129x272 ops=nt", "24x128x240 ops=nt ldc=140"}},
    {"family=wgmma,block_m=64,block_n=32,block_k=128,stages=4,vector_width=16,boundary=hardware,split_k=3",
     {"70x52x672 ops=nt", "64x32x144 ops=nt"}},
    {"family=wgmma,block_m=64,block_n=32,block_k=128,stages=4,vector_width=16,boundary=hardware,split_k=4,cluster=4",
     {"70x52x672 ops=nt", "64x32x144 ops=nt ldc=33"}},
    {"family=wgmma,block_m=64,block_n=16,block_k=128,stages=2,vector_width=16,boundary=hardware,pack_ab=2",
     {"70x144x272", "5x33x17 lda=32", "64x16x128 ldb=131"}},
    {"family=wgmma,block_m=64,block_n=16,block_k=128,stages=2,vector_width=16,boundary=peeled,pack_ab=1,swap_ab=1",
     {"144x70x272 ops=tt", "33x5x17 ops=tt ldb=32"}},
    {"family=wgmma,block_m=64,block_n=64,block_k=128,stages=2,vector_width=16,boundary=hardware,pack_ab=3",
     {"75x133x301", "75x133x301 ops=nt", "75x133x301 ops=tn", "129x261x385 ops=tn lda=144", "75x133x301 ops=tt", "1x1x1 ops=tn"}},
};

}  // namespace

TEST_CASE("products of s8 are exact modulo 2^32") {
    constexpr Scalars kScalars[] = {{1, 0}, {-3, 1}, {kMost, kLeast}, {0, -2}, {kLeast, 0}};
    for (const Product& product : kProducts) {
        for (const char* const shape : product.shapes) {
            for (const Scalars scalars : kScalars) {
                CAPTURE(std::string(product.config));
                CAPTURE(shape);
                CAPTURE(scalars.alpha);
                CAPTURE(scalars.beta);
                CHECK(wrong_elements(std::string(shape) + " dtype=s8", product.config, scalars) == 0);
            }
        }
    }
}

TEST_CASE("the least of bytes multiply exactly, and their sums wrap around where 32 bits end") {
    // 2^17 products of 2^14 are 2^31, which is the least int32; once more, and they are 0.
    for (const std::int64_t k : {std::int64_t{1} << 17, std::int64_t{1} << 18}) {
        const std::string shape = "2x3x" + std::to_string(k) + " dtype=s8 ops=nt";
        const Bytes a(static_cast<std::size_t>(2 * k), -128);
        const Bytes b(static_cast<std::size_t>(3 * k), -128);
        for (const char* const config : {"family=naive,block_m=4,block_n=8", "family=gemv,block_m=2,block_n=32,block_k=128,split_k=4",
                                         "family=simt,block_m=16,block_n=32,block_k=16,thread_m=4,thread_n=4,along_k=1,vector_width=4"}) {
            CAPTURE(std::string(config));
            CHECK(wrong_elements(shape, config, {1, 0}, a, b) == 0);
            CHECK(wrong_elements(shape, config, {1, 1}, a, b) == 0);
        }
    }
}
