// The second step of a product by planes: divides each line of A and B by a power of two, and writes its elements as sums of 16-bit
// numbers (planes.h). Each is the rest of those before it rounded to nearest, so that only the last one's rounding is lost.
#pragma once

#include "tmm/element.cuh"
#include "tmm/planes.h"
#include "tmm/planes_tile.cuh"
#include "tmm/ptx_grid.cuh"
#include "tmm/shared_memory.cuh"

namespace tmm::planes {

__device__ inline float power_of_two(int exponent) {
    return __int_as_float((127 + exponent) << 23);
}

// The power of two to divide a line by, such that the power is a float, and so is its reciprocal.
__device__ inline int exponent_for(unsigned largest_bits, int top) {
    const int exponent = static_cast<int>(largest_bits >> 23) - 127 - top;
    return exponent < -126 ? -126 : exponent;
}

template <int planes>
struct Split {
    using T = Element<type_of(planes)>;
    T plane[planes];

    __device__ explicit Split(float value) {
        plane[0] = from_float<T>(value);
        float rest = value - to_float(plane[0]);
        if constexpr (planes == 2) {
            plane[1] = from_float<T>(rest * 0x1p11f);
        } else {
            plane[1] = from_float<T>(rest);
            plane[2] = from_float<T>(rest - to_float(plane[1]));
        }
    }
};

// `exponents`: the tile's lines', in shared memory.
template <int planes, bool lines_are_rows, int align>
__device__ inline void split_tile(const float* source, const Operand& o, const PlanesOperand& to, i64 item, int* exponents) {
    using T = Element<type_of(planes)>;
    const i64 tile = item % depth_tiles(o);
    const i64 line_tile = item / depth_tiles(o) % line_tiles(o);
    const i64 matrix = item / depth_tiles(o) / line_tiles(o);
    const i64 row0 = (lines_are_rows ? line_tile : tile) * kTileRows;
    const i64 column0 = (lines_are_rows ? tile : line_tile) * kTileColumns;
    Vector<float, kQuad> quads[kQuads];
    load_quads<lines_are_rows, align>(quads, source + matrix * o.stride, o, row0, column0);

    constexpr int tile_lines = lines_are_rows ? kTileRows : kTileColumns;
    const i64 line = line_tile * tile_lines + threadIdx.x;
    // The last tile's exponents have been read.
    __syncthreads();
    if (threadIdx.x < tile_lines && line < lines(o)) {
        unsigned largest = 0;
        for (i64 chunk = 0; chunk < chunks(o); ++chunk) {
            const unsigned bits = to.largest[(matrix * chunks(o) + chunk) * lines(o) + line];
            largest = bits > largest ? bits : largest;
        }
        const int exponent = exponent_for(largest, top_exponent(planes));
        exponents[threadIdx.x] = exponent;
        if (tile == 0) to.exponents[matrix * lines(o) + line] = exponent;
        constexpr unsigned infinity = 0x7f800000u;
        if (largest >= infinity) *to.unfit = 1;
    }
    // Every line's exponent is there.
    __syncthreads();

    const i64 ld = pad::padded_ld(o.columns, type_of(planes));
    T* const first = static_cast<T*>(to.planes) + matrix * planes * o.rows * ld;
    const float least = power_of_two(least_exponent(planes));
    int short_elements = 0;
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
        const Place place = place_of_quad<lines_are_rows>(i);
        const i64 row = row0 + place.row;
        const i64 column = column0 + place.column;
        if (row >= o.rows || column >= o.columns) continue;
        Vector<T, kQuad> split[planes];
#pragma unroll
        for (int j = 0; j < kQuad; ++j) {
            const float value = quads[i].element[j];
            // Past the last column there is no line; what is written there is padding.
            const bool exists = column + j < o.columns;
            const int exponent = exists ? exponents[lines_are_rows ? place.row : place.column + j] : 0;
            const float scaled = value * power_of_two(-exponent);
            if (value != 0.0f && scaled < least && scaled > -least) ++short_elements;
            const Split<planes> parts(scaled);
#pragma unroll
            for (int p = 0; p < planes; ++p) split[p].element[j] = parts.plane[p];
        }
#pragma unroll
        for (int p = 0; p < planes; ++p) store_vector_global(first + (p * o.rows + row) * ld + column, split[p]);
    }
    if (short_elements > kMostShort) *to.unfit = 1;
}

template <KernelSignature signature, KernelConfig config>
__device__ void kernel(const PlanesArgs& args) {
    static_assert(first_violation(config, signature) == nullptr);
    ptx::griddepcontrol_launch_dependents();
    ptx::griddepcontrol_wait();
    SharedMemory memory;
    int* const exponents = memory.take<int, kTileColumns>()[0];
    const Operand a = operand_a(args, signature);
    const Operand b = operand_b(args, signature);
    const i64 items_a = split_items(a, args.planes_a);
    const i64 items = items_a + split_items(b, args.planes_b);
    for (i64 i = blockIdx.x; i < items; i += gridDim.x) {
        // Backwards: what the scan has read last is in L2 still.
        const i64 item = items - 1 - i;
        if (item < items_a)
            split_tile<config.planes, signature.op_a == Operation::none, signature.align_a>(static_cast<const float*>(args.a), a,
                                                                                            args.planes_a, item, exponents);
        else
            split_tile<config.planes, signature.op_b == Operation::transpose, signature.align_b>(static_cast<const float*>(args.b), b,
                                                                                                 args.planes_b, item - items_a, exponents);
    }
}

}  // namespace tmm::planes
