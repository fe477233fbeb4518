#include <algorithm>
#include <cstring>

#include "generator/families/wgmma/wgmma.h"
#include "tmm/families/wgmma/rules.h"
#include "tmm/steps/pad/rules.h"

namespace tmm {

TensorMapRequests wgmma_tensor_maps(const LaunchStep& step, const std::byte* arguments) {
    WgmmaArgs args;
    std::memcpy(&args, arguments, sizeof args);
    const KernelSignature& signature = step.signature;
    const KernelConfig& config = *config_of(step);
    TensorMapRequests maps;
    if (wgmma::stores_boxes(config, signature)) {
        const auto add_boxes = [&](const TensorMap& map, const TensorMap& rest, const void* address, i64 ld, i64 stride, i64 columns) {
            const i64 row_bytes = ld * size_of(signature.type_c);
            TensorMapRequest c{.address = address,
                               .type = signature.type_c,
                               .rows = args.m / products_of_row(signature.activation),
                               .columns = columns,
                               .matrices = args.batch,
                               .row_bytes = row_bytes,
                               .matrix_bytes = args.batch > 1 ? stride * size_of(signature.type_c) : row_bytes};
            const auto add_map = [&](const TensorMap& of, int sum_columns) {
                c.box_rows = wgmma::box_rows(config, sum_columns);
                c.box_columns = wgmma::box_columns(config, sum_columns);
                maps.add(c, offset_within(args, of));
            };
            add_map(map, wgmma::sum_columns_of_box(config, signature));
            if (const int columns_of_rest = wgmma::sum_columns_of_rest(config, signature); columns_of_rest > 0)
                add_map(rest, columns_of_rest);
        };
        const i64 columns = args.n / products_of_column(signature.activation);
        // There is no map of nothing; the kernel then uses none.
        add_boxes(args.result, args.result_rest, args.c, args.ldc, args.stride_c,
                  std::max<i64>(wgmma::whole_chunks(columns, signature.type_c), 16 / size_of(signature.type_c)));
        // What is brought may end within a chunk.
        if (signature.reads_c)
            add_boxes(args.before, args.before_rest, args.c, args.ldc, args.stride_c, columns);
        else if (wgmma::box_brings_residual(signature))
            add_boxes(args.before, args.before_rest, args.epilogue.residual, args.epilogue.ldr, args.epilogue.stride_r, columns);
    }
    if (args.k == 0) return maps;
    const auto request = [&](const void* address, ElementType type, bool transposed, i64 outer, i64 ld, i64 stride,
                             const wgmma::TileLayout& tile, bool in_halves, int sharers, i64 times) {
        const i64 rows = transposed ? args.k : outer;
        TensorMapRequest operand = operand_request(
            address, type, {.rows = rows, .columns = transposed ? outer : args.k, .ld = ld, .stride = stride}, args.batch,
            {.rows = tile.along_k ? wgmma::box_rows_along_k(tile, config, signature, in_halves, sharers) : tile.depth / sharers,
             .columns = wgmma::row_elements(tile)},
            times);
        // The tensor cores ignore what TF32 has no bits for: they would cut it off.
        operand.rounds_to_tf32 = signature.compute == ComputeMode::tf32;
        if (config.planes > 1) {
            operand.matrices *= config.planes;
            operand.matrix_bytes = rows * operand.row_bytes;
        }
        return operand;
    };
    const bool swap = config.swap_ab != 0;
    const bool left_in_halves = wgmma::left_in_halves(config, signature);
    const bool right_in_halves = wgmma::right_in_halves(config, signature);
    const wgmma::TileLayout left = wgmma::left_tile(config, signature);
    const wgmma::TileLayout right = wgmma::right_tile(config, signature);
    // How often clusters bring a tile.
    const i64 times_left = wgmma::clusters_right(config, args.m, args.n);
    const i64 times_right = wgmma::clusters_left(config, args.m, args.n);
    const bool along_m = signature.op_a == Operation::transpose;
    const bool along_n = signature.op_b == Operation::none;
    // The padding of rows along M or N may be brought as well: boxes that end within the map are faster, and it reaches no element of C.
    const i64 m = along_m && pad::pads_a(config) ? args.lda : args.m;
    const i64 n = along_n && pad::pads_b(config) ? args.ldb : args.n;
    const TensorMapRequest a =
        request(args.a, signature.type_a, along_m, m, args.lda, args.stride_a, swap ? right : left, swap ? right_in_halves : left_in_halves,
                swap ? config.multicast_b : config.multicast_a, swap ? times_right : times_left);
    const TensorMapRequest b =
        request(args.b, signature.type_b, along_n, n, args.ldb, args.stride_b, swap ? left : right, swap ? left_in_halves : right_in_halves,
                swap ? config.multicast_a : config.multicast_b, swap ? times_left : times_right);
    const auto add_operand = [&](TensorMapRequest operand, const TensorMap& whole, const TensorMap& edge, const wgmma::TileLayout& tile,
                                 int sharers, bool halved) {
        maps.add(operand, offset_within(args, whole));
        if (config.boundary != boundary::peeled || !tile.along_k || sharers > 1 || halved) return;
        operand.box_rows = static_cast<int>(operand.rows % operand.box_rows);
        if (operand.box_rows > 0) maps.add(operand, offset_within(args, edge));
    };
    add_operand(swap ? b : a, args.left, args.left_edge, left, config.multicast_a, left_in_halves);
    add_operand(swap ? a : b, args.right, args.right_edge, right, config.multicast_b, right_in_halves);
    return maps;
}

}  // namespace tmm
