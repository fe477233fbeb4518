// The first step of a product by planes: the largest magnitude of each part of each line of A and B, from which the next step knows
// the powers of two to divide by. Magnitudes are compared as bits, so that Inf is larger than numbers and NaN than Inf.
#pragma once

#include "tmm/planes_tile.cuh"
#include "tmm/ptx_grid.cuh"
#include "tmm/scan.h"
#include "tmm/shared_memory.cuh"

namespace tmm::scan {

using namespace planes;

__device__ inline unsigned magnitude_bits(float value) {
    return static_cast<unsigned>(__float_as_int(value)) & 0x7fffffffu;
}
__device__ inline unsigned larger(unsigned a, unsigned b) {
    return a > b ? a : b;
}

// The tiles of one chunk of a line tile. `shared`: an element for each of a thread's lines.
template <bool lines_are_rows, int align>
__device__ inline void scan_chunk(const float* source, const Operand& o, unsigned* largest, i64 item, unsigned* shared) {
    const i64 chunk = item % chunks(o);
    const i64 line_tile = item / chunks(o) % line_tiles(o);
    const i64 matrix = item / chunks(o) / line_tiles(o);
    const i64 tiles = ceil_divide(depth_tiles(o), chunks(o));
    const i64 end = (chunk + 1) * tiles < depth_tiles(o) ? (chunk + 1) * tiles : depth_tiles(o);
    // Where lines are rows, a thread has one.
    unsigned of_line[kQuad] = {};
    for (i64 tile = chunk * tiles; tile < end; ++tile) {
        Vector<float, kQuad> quads[kQuads];
        load_quads<lines_are_rows, align>(quads, source + matrix * o.stride, o, (lines_are_rows ? line_tile : tile) * kTileRows,
                                          (lines_are_rows ? tile : line_tile) * kTileColumns);
#pragma unroll
        for (int i = 0; i < kQuads; ++i) {
#pragma unroll
            for (int j = 0; j < kQuad; ++j) {
                unsigned& line = of_line[lines_are_rows ? 0 : j];
                line = larger(line, magnitude_bits(quads[i].element[j]));
            }
        }
    }
    const int thread = static_cast<int>(threadIdx.x);
    unsigned* const result = largest + (matrix * chunks(o) + chunk) * lines(o);
    // The last chunk's have been read.
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kQuad; ++j)
        if (!lines_are_rows || j == 0) shared[thread * kQuad + j] = of_line[j];
    // Every thread's are there.
    __syncthreads();
    if constexpr (lines_are_rows) {
        const i64 line = line_tile * kTileRows + thread;
        if (thread < kTileRows && line < lines(o)) {
            constexpr int sharers = kThreads / kTileRows;
            unsigned most = 0;
            for (int i = 0; i < sharers; ++i) most = larger(most, shared[(thread * sharers + i) * kQuad]);
            result[line] = most;
        }
    } else {
        const i64 line = line_tile * kTileColumns + thread;
        if (thread < kTileColumns && line < lines(o)) {
            unsigned most = 0;
            for (int i = thread; i < kThreads * kQuad; i += kTileColumns) most = larger(most, shared[i]);
            result[line] = most;
        }
    }
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const PlanesArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    ptx::griddepcontrol_launch_dependents();
    SharedMemory memory;
    unsigned* const shared = memory.take<unsigned, kThreads * kQuad>()[0];
    // The next step marks what does not fit.
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        if (args.planes_a.unfit) *args.planes_a.unfit = 0;
        if (args.planes_b.unfit) *args.planes_b.unfit = 0;
    }
    const Operand a = operand_a(args, signature);
    const Operand b = operand_b(args, signature);
    const i64 items_a = scan_items(a, args.planes_a);
    for (i64 item = blockIdx.x; item < items_a + scan_items(b, args.planes_b); item += gridDim.x) {
        if (item < items_a)
            scan_chunk<signature.op_a == Operation::none, signature.align_a>(static_cast<const float*>(args.a), a, args.planes_a.largest,
                                                                             item, shared);
        else
            scan_chunk<signature.op_b == Operation::transpose, signature.align_b>(static_cast<const float*>(args.b), b,
                                                                                  args.planes_b.largest, item - items_a, shared);
    }
}

}  // namespace tmm::scan
