// Kernels on CUDA cores, and the steps around them, hold elements, sums and scalars in the types that their number says: products of
// doubles are as exact as doubles.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
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

// Numbers that floats do not hold.
std::vector<double> numbers(std::int64_t count, std::uint32_t seed) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = (static_cast<double>(seed) - 0x1p31) / 3 * 0x1p-31;
    }
    return values;
}

// How far an element of C is from what it should be, relative to what its sum is made of.
double largest_error(const std::string& shape, const std::string& config) {
    const DeviceInfo device = assumed_device("90");
    const GemmProblem problem = parse_shape(shape).problem;
    const TemporaryDirectory directory;
    KernelLoader loader(make_host_device_for(device, "ascending"), make_host_compiler(), KernelCache(directory.path() / "kernels"));
    auto made = ExecutablePlan::make(make_launch_plan(problem, parse_config(config), device), loader);
    if (const auto* failure = std::get_if<CompileFailure>(&made)) FAIL(failure->log);
    const auto& plan = std::get<ExecutablePlan>(made);
    const std::vector<double> a = numbers(stored_rows_a(problem) * problem.lda, 1);
    const std::vector<double> b = numbers(stored_rows_b(problem) * problem.ldb, 2);
    const std::vector<double> bias = numbers(problem.n, 3);
    const std::vector<double> before = numbers(problem.m * problem.ldc, 4);
    std::vector<double> c = before;
    std::vector<double> workspace(static_cast<std::size_t>(plan.plan().workspace_bytes / 8 + 64));
    constexpr double alpha = 1.1, beta = 0.7;
    plan.run({.a = a.data(),
              .b = b.data(),
              .c = c.data(),
              .bias = bias.data(),
              .workspace = workspace.data() + 32 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 256 / 8,
              .alpha = alpha,
              .beta = problem.reads_c ? beta : 0.0},
             nullptr);
    loader.device()->synchronize();
    double error = 0;
    for (i64 row = 0; row < problem.m; ++row)
        for (i64 column = 0; column < problem.n; ++column) {
            const auto place = static_cast<std::size_t>(row * problem.ldc + column);
            double sum = 0, size = 1;
            for (i64 k = 0; k < problem.k; ++k) {
                const double product =
                    a[static_cast<std::size_t>(problem.op_a == Operation::none ? row * problem.lda + k : k * problem.lda + row)] *
                    b[static_cast<std::size_t>(problem.op_b == Operation::none ? k * problem.ldb + column : column * problem.ldb + k)];
                sum += product;
                size += std::abs(product);
            }
            double expected = alpha * sum + (problem.reads_c ? beta * before[place] : 0);
            if (problem.bias != BiasAxis::none) expected += bias[static_cast<std::size_t>(column)];
            error = std::fmax(error, std::abs(c[place] - expected) / size);
        }
    return error;
}

struct Product {
    const char* shape;
    const char* config;
};
constexpr Product kProducts[] = {
    {"19x13x21 ops=tn beta=1", "family=naive,block_m=4,block_n=8"},
    {"19x13x21 epilogue=bias bias_type=f64", "family=tiled,block_m=8,block_n=8,block_k=8"},
    {"45x75x21 ops=tt beta=1", "family=simt,block_m=32,block_n=64,block_k=8,thread_m=8,thread_n=8,vector_width=4"},
    {"48x64x24 ops=tn beta=1", "family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=3,async_copy=1,vector_width=4"},
    {"45x75x64 ops=nt epilogue=bias bias_type=f64",
     "family=simt,block_m=16,block_n=32,block_k=16,thread_m=4,thread_n=4,along_k=1,slice_k=2,vector_width=2,boundary=peeled"},
    {"45x75x100", "family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,split_k=4,vector_width=4"},
    {"45x75x100 beta=1", "family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,split_k=4,cluster=4,vector_width=4"},
    {"700x800x64", "family=simt,block_m=32,block_n=64,block_k=8,thread_m=8,thread_n=8,stream_k=1,vector_width=4"},
    {"45x75x70 ops=nt", "family=simt,block_m=16,block_n=32,block_k=8,thread_m=4,thread_n=4,pack_ab=3,vector_width=2"},
    {"2x75x70", "family=gemv,block_m=2,block_n=32,block_k=16,thread_n=4,vector_width=2"},
};

}  // namespace

TEST_CASE("products of doubles are summed in doubles where the number says so") {
    for (const Product& product : kProducts) {
        CAPTURE(std::string(product.config));
        CHECK(largest_error(std::string(product.shape) + " dtype=f64", product.config) < 0x1p-47);
    }
}
