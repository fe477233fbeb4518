// What a step's tensor maps are to say; the device encodes them (runtime/device/device.h) for each call, since they hold addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tmm/vocabulary/problem.h"

namespace tmm {

// A batch of row-major matrices, of which TMA brings or takes boxes of box_rows x box_columns.
struct TensorMapRequest {
    // Offset of the TensorMap within the kernel's arguments.
    std::size_t offset = 0;
    // The address is a multiple of 16 bytes.
    const void* address = nullptr;
    ElementType type = ElementType::bf16;
    // Floats are rounded to TF32 on their way to shared memory, to the nearest. They are kept in 32 bits.
    bool rounds_to_tf32 = false;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t matrices = 1;
    // Bytes from one row, or matrix, to the next; multiples of 16.
    std::int64_t row_bytes = 0;
    std::int64_t matrix_bytes = 0;
    int box_rows = 0;
    int box_columns = 0;
    // In shared memory boxes are swizzled as widely as their rows are: 128, 64 or 32 bytes; boxes with other rows are not swizzled at all.
    bool swizzled = true;
    // Many blocks bring the same boxes, one after the other, most of them out of the L2 cache.
    bool reused = false;

    // 0 where boxes are not swizzled.
    int swizzle_bytes() const {
        const int bytes = box_columns * size_of(type);
        return swizzled && (bytes == 128 || bytes == 64 || bytes == 32) ? bytes : 0;
    }
};

// A kernel has up to two maps for each operand, for C as it is read and for C as it is written. They are kept in place, since running a
// plan allocates nothing.
struct TensorMapRequests {
    std::array<TensorMapRequest, 8> requests;
    int count = 0;

    // offset: TensorMapRequest::offset.
    void add(TensorMapRequest request, std::size_t offset) {
        request.offset = offset;
        requests[static_cast<std::size_t>(count++)] = request;
    }
    const TensorMapRequest* begin() const { return requests.data(); }
    const TensorMapRequest* end() const { return requests.data() + count; }
};

}  // namespace tmm
