// Matrices travel without padding: fewer bytes, and the device sees the shape that was most likely tuned.
#include "runtime/api/host_gemm.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "runtime/api/handle.h"

namespace tmm {
namespace {

// Rows of a matrix in host memory, in bytes.
struct Rows {
    std::size_t count;
    std::size_t bytes;
    std::size_t distance;

    bool padded() const { return count > 1 && distance != bytes; }
    std::size_t packed_bytes() const { return count * bytes; }
};

Rows rows_of(i64 rows, i64 columns, i64 ld, ElementType type) {
    const std::size_t size = static_cast<std::size_t>(size_of(type));
    return {.count = static_cast<std::size_t>(rows),
            .bytes = static_cast<std::size_t>(columns) * size,
            .distance = static_cast<std::size_t>(ld) * size};
}

DeviceBuffer to_device(const std::shared_ptr<Device>& device, const void* matrix, const Rows& rows) {
    DeviceBuffer buffer(device, rows.packed_bytes());
    if (!rows.padded()) {
        device->copy_to_device(buffer.data(), matrix, rows.packed_bytes());
        return buffer;
    }
    const auto packed = std::make_unique_for_overwrite<std::byte[]>(rows.packed_bytes());
    for (std::size_t row = 0; row < rows.count; ++row)
        std::memcpy(packed.get() + row * rows.bytes, static_cast<const std::byte*>(matrix) + row * rows.distance, rows.bytes);
    device->copy_to_device(buffer.data(), packed.get(), rows.packed_bytes());
    return buffer;
}

void to_host(Device& device, void* matrix, const DeviceBuffer& buffer, const Rows& rows) {
    if (!rows.padded()) {
        device.copy_to_host(matrix, buffer.data(), rows.packed_bytes());
        return;
    }
    const auto packed = std::make_unique_for_overwrite<std::byte[]>(rows.packed_bytes());
    device.copy_to_host(packed.get(), buffer.data(), rows.packed_bytes());
    for (std::size_t row = 0; row < rows.count; ++row)
        std::memcpy(static_cast<std::byte*>(matrix) + row * rows.distance, packed.get() + row * rows.bytes, rows.bytes);
}

}  // namespace

void host_gemm(RuntimeHandle& handle, const GemmProblem& problem, const GemmCall& call) {
    const std::shared_ptr<Device>& device = handle.device();
    GemmProblem packed = problem;
    packed.lda = std::max<i64>(1, stored_columns_a(problem));
    packed.ldb = std::max<i64>(1, stored_columns_b(problem));
    packed.ldc = problem.n;
    packed.alignment = 16;

    DeviceBuffer a;
    DeviceBuffer b;
    DeviceBuffer c;
    const Rows rows_c = rows_of(problem.m, problem.n, problem.ldc, problem.type_c);
    GemmCall on_device = call;
    // The pointers are null where neither matrix is read.
    if (call.a && call.b) {
        a = to_device(device, call.a, rows_of(stored_rows_a(problem), stored_columns_a(problem), problem.lda, problem.type_a));
        b = to_device(device, call.b, rows_of(stored_rows_b(problem), stored_columns_b(problem), problem.ldb, problem.type_b));
        on_device.a = a.data();
        on_device.b = b.data();
    }
    c = problem.reads_c ? to_device(device, call.c, rows_c) : DeviceBuffer(device, rows_c.packed_bytes());
    on_device.c = c.data();
    handle.gemm({.problem = packed}, on_device, 0, nullptr);
    to_host(*device, call.c, c, rows_c);
}

}  // namespace tmm
