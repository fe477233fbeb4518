// Compiles a kernel's body for the emulated device and launches it, for the tests of that device.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/emulation/host_device.h"

namespace emulation_testing {

using namespace tmm;

// The arguments that every kernel of a test takes.
struct Args {
    void* out;
    const void* in;
    const void* other;
    int n;
};
inline constexpr const char* kHead = R"(
#include "tmm/number/element.cuh"
#include "tmm/ptx.cuh"
#include "tmm/copy/chunks.cuh"
#include "tmm/copy/shared_memory.cuh"
struct Args { void* out; const void* in; const void* other; int n; };
)";
inline constexpr const char* kOrders[] = {"ascending", "descending", "shuffled:1", "shuffled:2"};

inline CompiledKernel compiled(const std::string& body) {
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

inline void launch(const CompiledKernel& kernel, const std::string& order, const Shape& shape, const Args& args) {
    const auto device = make_host_device(order);
    const auto loaded = device->load(kernel, "test_kernel");
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

inline std::string fault(const CompiledKernel& kernel, const std::string& order, const Shape& shape, const Args& args = {}) {
    try {
        launch(kernel, order, shape, args);
    } catch (const DeviceFault& error) {
        return error.what();
    }
    return "";
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace emulation_testing
