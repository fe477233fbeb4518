// What a step's tensor maps are to say, and how families describe the matrices that the copy engine brings; the device encodes them
// (runtime/device/device.h) for each call, since they hold addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/tensor_map.h"

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

// Offset of the TensorMap within the arguments that hold it.
template <class Args>
std::size_t offset_within(const Args& args, const TensorMap& map) {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&map) - reinterpret_cast<const std::byte*>(&args));
}

// The matrices as they are stored: elements from row to row, and from matrix to matrix, which is 0 where all of the batch share one.
struct StoredMatrices {
    i64 rows;
    i64 columns;
    i64 ld;
    i64 stride;
};
struct Box {
    int rows;
    int columns;
};

// times: how often each box is brought.
TensorMapRequest operand_request(const void* address, ElementType type, const StoredMatrices& matrices, i64 batch, Box box, i64 times);

// An operand of floats, of which the kernel brings boxes that are not swizzled.
struct OperandOfFloats {
    // offset_within() of the operand's tensor map.
    std::size_t map = 0;
    const void* address = nullptr;
    StoredMatrices matrices;
    Box box;
    i64 times = 0;
};
// The maps of both operands; none where the call reads neither.
TensorMapRequests maps_of_floats(const GemmArgs& args, const OperandOfFloats& first, const OperandOfFloats& second);

}  // namespace tmm
