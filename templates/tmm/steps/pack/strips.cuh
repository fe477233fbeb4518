// Strips of C beyond a product's tiles, which `pack` has multiplied while it copied the operands (steps/pack/kernel.cuh): blocks of the
// product add up their parts, on SMs, or places of SMs, that its last wave would leave idle.
//
//               n          columns, of A and the last columns of B
//         +-----------+--+
//         |           |  |
//       m |  product  |  |           the corner, which neither has: its few elements are multiplied here
//         |           |  |
//         +-----------+--+
//   rows  |           |  |
//         +-----------+--+           rows, of the last rows of A and B
#pragma once

#include "tmm/copy/vector.cuh"
#include "tmm/output/output.cuh"
#include "tmm/steps/pack/strips.h"
#include "tmm/vocabulary/args.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::strips {

template <class Kernel, int threads>
class Strips {
    using Sum = SumOf<Kernel>;

public:
    // All threads of the block construct one. shared: shared_elements(threads) elements of shared memory.
    __device__ Strips(const GemmArgs& args, const StripsArgs& strips, Sum* shared) : args_(args), strips_(strips), shared_(shared) {}

    // Does the block's share of the pieces of work.
    __device__ void add_up() {
        const Pieces count = pieces(strips_.with_a.lines, strips_.with_b.lines, args_.m, args_.n);
        for (i64 piece = blockIdx.x; piece < count.all() * args_.batch; piece += strips_.blocks) {
            const i64 batch = piece / count.all();
            const i64 number = piece % count.all();
            const i64 in_rows = number - count.of_columns;
            const i64 in_corner = in_rows - count.of_rows;
            if (in_rows < 0)
                add_up_sums<true>(strips_.with_a, args_.m, batch, number);
            else if (in_corner < 0)
                add_up_sums<false>(strips_.with_b, args_.n, batch, in_rows);
            else
                multiply_corner(batch, in_corner);
            // All of the piece has been read before the next one comes.
            __syncthreads();
        }
    }

private:
    static constexpr int warps = threads / 32;

    // Adds up kSums of one of the strip's lines, in the order of their parts: each warp adds up every warps-th part, and then the warps'
    // sums are added up.
    template <bool of_columns>
    __device__ void add_up_sums(const PackedStrip& strip, i64 outer, i64 batch, i64 number) {
        const i64 pieces_of_line = (outer + kSums - 1) / kSums;
        const i64 line = number / pieces_of_line;
        const i64 first = number % pieces_of_line * kSums;
        const i64 ld = workspace_ld(outer);
        const i64 parts = pack::strip_parts(args_.k);
        const int place = static_cast<int>(threadIdx.x) % 32 * kVector;
        Vector<Sum, kVector> sums = {};
        if (first + place < outer) {
            const Sum* const sums_of_line = static_cast<const Sum*>(strip.sums) + (batch * parts * strip.lines + line) * ld + first + place;
#pragma unroll 4
            for (i64 part = threadIdx.x / 32; part < parts; part += warps) {
                const Vector<Sum, kVector> more = load_vector<kVector>(sums_of_line + part * strip.lines * ld);
#pragma unroll
                for (int i = 0; i < kVector; ++i) sums.element[i] += more.element[i];
            }
        }
        store_vector(shared_ + threadIdx.x / 32 * kSums + place, sums);
        // All warps' sums are there.
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < kSums && first + i < outer; i += threads) {
            Sum sum = 0;
#pragma unroll
            for (int warp = 0; warp < warps; ++warp) sum += shared_[warp * kSums + i];
            if constexpr (of_columns)
                store(batch, first + i, args_.n + line, sum);
            else
                store(batch, args_.m + line, first + i, sum);
        }
    }

    __device__ void multiply_corner(i64 batch, i64 number) {
        const i64 row = number / strips_.with_a.lines;
        const i64 column = number % strips_.with_a.lines;
        const auto line_of = [&](const PackedStrip& strip, i64 line) {
            return static_cast<const Sum*>(strip.few) + batch * strip.stride + line * strip.line_distance;
        };
        const Sum* const a = line_of(strips_.with_b, row);
        const Sum* const b = line_of(strips_.with_a, column);
        Sum sum = 0;
#pragma unroll 4
        for (i64 k = threadIdx.x; k < args_.k; k += threads)
            sum = multiply_add(a[k * strips_.with_b.k_distance], b[k * strips_.with_a.k_distance], sum);
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (threadIdx.x % 32 == 0) shared_[threadIdx.x / 32] = sum;
        // All warps' sums are there.
        __syncthreads();
        if (threadIdx.x != 0) return;
        for (int warp = 1; warp < warps; ++warp) sum += shared_[warp];
        store(batch, args_.m + row, args_.n + column, sum);
    }

    __device__ void store(i64 batch, i64 row, i64 column, Sum sum) const {
        output_to_c<Kernel>(args_, batch).store_element(row, column, sum);
    }

    const GemmArgs& args_;
    const StripsArgs& strips_;
    Sum* shared_;
};

}  // namespace tmm::strips
