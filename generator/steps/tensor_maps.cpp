#include "generator/steps/tensor_maps.h"

namespace tmm {
namespace {

// How often a matrix may be brought and still count as brought from memory rather than from the L2 cache.
constexpr i64 kFewTimes = 8;

}  // namespace

TensorMapRequest operand_request(const void* address, ElementType type, const StoredMatrices& matrices, i64 batch, Box box, i64 times) {
    const i64 row_bytes = matrices.ld * size_of(type);
    // Where all of the batch share a matrix, the kernel asks for the first.
    const bool many = batch > 1 && matrices.stride != 0;
    return TensorMapRequest{.address = address,
                            .type = type,
                            .rows = matrices.rows,
                            .columns = matrices.columns,
                            .matrices = many ? batch : 1,
                            .row_bytes = row_bytes,
                            .matrix_bytes = many ? matrices.stride * size_of(type) : row_bytes,
                            .box_rows = box.rows,
                            .box_columns = box.columns,
                            .reused = times > kFewTimes};
}

TensorMapRequests maps_of_floats(const GemmArgs& args, const OperandOfFloats& first, const OperandOfFloats& second) {
    TensorMapRequests maps;
    if (args.k == 0) return maps;
    for (const OperandOfFloats* operand : {&first, &second}) {
        TensorMapRequest request =
            operand_request(operand->address, ElementType::f32, operand->matrices, args.batch, operand->box, operand->times);
        request.swizzled = false;
        maps.add(request, operand->map);
    }
    return maps;
}

}  // namespace tmm
