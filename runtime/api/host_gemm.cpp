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
    friend bool operator==(const Rows&, const Rows&) = default;
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

// The other triangle of a lower or upper result stays as it is.
void to_host(Device& device, void* matrix, const DeviceBuffer& buffer, const Rows& rows, Result result) {
    const bool is_triangle = result == Result::lower || result == Result::upper;
    if (!rows.padded() && !is_triangle) {
        device.copy_to_host(matrix, buffer.data(), rows.packed_bytes());
        return;
    }
    const auto packed = std::make_unique_for_overwrite<std::byte[]>(rows.packed_bytes());
    device.copy_to_host(packed.get(), buffer.data(), rows.packed_bytes());
    // A triangle is square.
    const std::size_t element = rows.bytes / rows.count;
    for (std::size_t row = 0; row < rows.count; ++row) {
        const std::size_t begin = result == Result::upper ? row * element : 0;
        const std::size_t end = result == Result::lower ? (row + 1) * element : rows.bytes;
        std::memcpy(static_cast<std::byte*>(matrix) + row * rows.distance + begin, packed.get() + row * rows.bytes + begin, end - begin);
    }
}

}  // namespace

void host_gemm(RuntimeHandle& handle, const PlanRequest& request, const GemmCall& call) {
    const std::shared_ptr<Device>& device = handle.device();
    const GemmProblem& problem = request.problem;
    PlanRequest packed = request;
    packed.problem.lda = std::max<i64>(1, stored_columns_a(problem));
    packed.problem.ldb = std::max<i64>(1, stored_columns_b(problem));
    packed.problem.ldc = columns_of_c(problem);
    packed.problem.alignment = 16;

    DeviceBuffer a;
    DeviceBuffer b;
    const Rows rows_a = rows_of(stored_rows_a(problem), stored_columns_a(problem), problem.lda, problem.type_a);
    const Rows rows_b = rows_of(stored_rows_b(problem), stored_columns_b(problem), problem.ldb, problem.type_b);
    const Rows rows_c = rows_of(rows_of_c(problem), columns_of_c(problem), problem.ldc, problem.type_c);
    GemmCall on_device = call;
    on_device.workspace = nullptr;
    on_device.prepared_a = on_device.prepared_b = nullptr;
    // The pointers are null where neither matrix is read.
    if (call.a && call.b) {
        a = to_device(device, call.a, rows_a);
        // A matrix that meets its own transpose travels once.
        const bool is_one = call.a == call.b && rows_a == rows_b;
        if (!is_one) b = to_device(device, call.b, rows_b);
        on_device.a = a.data();
        on_device.b = is_one ? a.data() : b.data();
    }
    const DeviceBuffer c = problem.reads_c ? to_device(device, call.c, rows_c) : DeviceBuffer(device, rows_c.packed_bytes());
    on_device.c = c.data();
    handle.gemm(packed, on_device, 0, nullptr);
    to_host(*device, call.c, c, rows_c, problem.result);
}

}  // namespace tmm
