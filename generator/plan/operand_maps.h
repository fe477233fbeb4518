// What the copy engine is told of an operand's matrices (tensor_map_request.h), alike for all families that it serves.
#pragma once

#include <cstddef>

#include "generator/plan/tensor_map_request.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/tensor_map.h"

namespace tmm {

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
