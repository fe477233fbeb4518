// The mma family: a block computes block_m x block_n of C on tensor cores, warps_m x warps_n warps a rectangle of it each, by
// mma.sync.m16n8k16 with operands of 16 bits and sums in float, the same in double or m16n8k32 with bytes and sums of 32 bits. Tiles of A
// and B travel from global to shared memory, `stages` of them at once, while the block multiplies those that have landed.
//
// A tile lies in shared memory as it does in global memory, whichever way its rows run. ldmatrix reads matrices of 8 rows of 16
// bytes, a chunk each; so that 8 rows one below the other meet in no bank, the chunks of a row change places:
//
//   a tile 64 elements wide (8 chunks): chunk c       32 wide (4 chunks): two rows fill     16 wide (2 chunks): four
//   of row r stands at c ^ r % 8                      the banks: c ^ r / 2 % 4              rows do: c ^ r / 4 % 2
//     r 0 | 0 1 2 3 4 5 6 7 |                           r 0 | 0 1 2 3 |                       r 0 | 0 1 |
//       1 | 1 0 3 2 5 4 7 6 |                             1 | 0 1 2 3 |                         1 | 0 1 |
//       2 | 2 3 0 1 6 7 4 5 |                             2 | 1 0 3 2 |                         … |     |
//       … |                 |                             … |         |                         4 | 1 0 |
//
// Fragments of one product, 16 x 16 of A by 16 x 8 of B. g is lane / 4, t is lane % 4; a register holds two elements that
// follow each other along k; ldmatrix gives a lane element (g, 2t) and (g, 2t + 1) of each of four matrices, or, transposed,
// (2t, g) and (2t + 1, g):
//
//           k 0-7     k 8-15                     n 0-7                            n 0-7
//   m 0-7  | a[0]    | a[2]    |        k 0-7   | b[0]    |            m 0-7     | sum[0], sum[1] |  row g, columns 2t and 2t + 1
//   m 8-15 | a[1]    | a[3]    |        k 8-15  | b[1]    |            m 8-15    | sum[2], sum[3] |  row g + 8
//            row g, k 2t, 2t + 1                  k 2t, 2t + 1, column g
//
// Doubles have one element a register: a[0] is (g, t), a[1] is (g + 8, t), and the next pairs lie 4, 8 and 12 further along k. No ldmatrix
// reads them: each lane loads its elements one by one, and half a warp 4 rows of 4 neighbours, two chunks of each. So that these meet in
// no bank, pairs of chunks change places: chunk c of row r stands at c ^ r % 4 * 2, and so on.
//
// Bytes have twice as much of k in the places of 16 bits, four elements a register: a[0] is (g, 4t) to (g, 4t + 3). Where rows run along K
// two bytes are to ldmatrix one element of 16 bits. Along M or N they are two neighbours of one k: transposed, ldmatrix gives a lane 2g and
// 2g + 1 of two k. From matrices whose rows are k 0, 1, 4, 5, 8, 9, … and 2, 3, 6, 7, 10, 11, … a lane gets four k that follow each other,
// which two byte permutations sort into two registers. So row 2g of the tile stands where g belongs and 2g + 1 where g + 8 does, and
// columns alike in two products side by side: what a lane holds of C are then other rows, or four neighbouring columns (store_sums).
//
//   from ldmatrix   | (4t, 2g) (4t, 2g + 1) (4t + 1, 2g) (4t + 1, 2g + 1) |      | (4t + 2, 2g) … (4t + 3, 2g + 1) |
//   permuted        | (4t, 2g) (4t + 1, 2g) (4t + 2, 2g) (4t + 3, 2g)     |      | the same of 2g + 1             |
#pragma once

#include "tmm/copy/batch.cuh"
#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/realigning_copy.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/copy/tile_pipeline.cuh"
#include "tmm/families/mma/rules.h"
#include "tmm/number/number.cuh"
#include "tmm/output/output.cuh"
#include "tmm/ptx.cuh"
#include "tmm/schedule/work_item.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm::mma {

// What the tiles of A and B are like in shared memory.
template <class Kernel>
struct Layouts {
    static constexpr TileLayout a = layout_a(Kernel::config, Kernel::signature);
    static constexpr TileLayout b = layout_b(Kernel::config, Kernel::signature);
};

// What a register of a fragment holds: two elements of 16 bits, four bytes, or a double.
template <class T>
struct RegisterOf {
    using Type = unsigned;
};
template <>
struct RegisterOf<double> {
    using Type = double;
};
template <class T>
using Register = typename RegisterOf<T>::Type;

// The fragments that a warp multiplies in one step.
template <class Kernel>
struct Fragments {
    static constexpr int registers = fragment_registers(Kernel::signature);
    Register<ElementOfA<Kernel>> a[warp_rows(Kernel::config) / kSquare][registers];
    // Fragments of B for two products side by side.
    Register<ElementOfB<Kernel>> b[warp_columns(Kernel::config) / kSquare][registers];
};

// Reads a warp's fragments of one operand from its tiles, one stage after the other. Each lane points ldmatrix at one row of one of the
// four matrices: lanes 0 to 7 at those of the first, and so on. The second matrix lies beside the first along M (A) or along K (B).
template <class T, const TileLayout& layout, int stages, bool second_along_k>
class FragmentReader {
public:
    // outer0: the warp's first row or column within the tile.
    __device__ FragmentReader(SharedTiles<T> tiles, int outer0) : distance_(tiles.distance), tile_(tiles[0]) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int matrix = lane / 8;
        if constexpr (layout.reads_pairs_of_rows) {
            row_ = matrix / 2 * 16 + lane % 8 / 2 * 4 + matrix % 2 * 2 + lane % 2;
            column_ = outer0;
            return;
        }
        const int outer = outer0 + (second_along_k ? matrix / 2 : matrix % 2) * 8;
        const int k = (second_along_k ? matrix % 2 : matrix / 2) * (layout.rows_along_k ? layout.chunk : 8);
        row_ = (layout.rows_along_k ? outer : k) + lane % 8;
        column_ = layout.rows_along_k ? k : outer;
    }

    template <int count>
    __device__ void read(unsigned (&fragments)[count][4], int k) const {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            if constexpr (layout.rows_along_k)
                ptx::ldmatrix_x4(fragments[i], tile_ + element_offset(layout, row_ + i * kSquare, column_ + k));
            else
                ptx::ldmatrix_x4_trans(fragments[i], tile_ + element_offset(layout, row_ + k, column_ + i * kSquare));
            if constexpr (layout.reads_pairs_of_rows) sort_bytes(fragments[i]);
        }
    }
    __device__ void next_stage() {
        ++stage_;
        tile_ += (stage_ == stages ? 1 - stages : 1) * distance_;
        if (stage_ == stages) stage_ = 0;
    }

private:
    // From four registers of two neighbours and two k each to registers of four k.
    __device__ static void sort_bytes(unsigned (&read)[4]) {
        const unsigned(&r)[4] = read;
        const unsigned sorted[2][2] = {{ptx::prmt(r[0], r[1], 0x6420), ptx::prmt(r[0], r[1], 0x7531)},
                                       {ptx::prmt(r[2], r[3], 0x6420), ptx::prmt(r[2], r[3], 0x7531)}};
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            const int depth = second_along_k ? part % 2 : part / 2;
            read[part] = sorted[depth][second_along_k ? part / 2 : part % 2];
        }
    }

    int distance_;
    const T* tile_;
    int row_;
    int column_;
    int stage_ = 0;
};

// Doubles are read one by one. The places of a lane's elements follow each other at distances that are the same for all lanes, but for the
// chunks that change places within a row's first swizzle_span() chunks: of each step through those, the lane keeps its first place.
template <const TileLayout& layout, int stages, bool second_along_k>
class FragmentReader<double, layout, stages, second_along_k> {
public:
    __device__ FragmentReader(SharedTiles<double> tiles, int outer0) : distance_(tiles.distance), tile_(tiles[0]) {
        const int outer = outer0 + static_cast<int>(threadIdx.x) % 32 / 4;
        const int k = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
        for (int i = 0; i < places; ++i)
            place_[i] = layout.rows_along_k ? element_offset(layout, outer, k + i * step) : element_offset(layout, k, outer + i * step);
    }

    template <int count>
    __device__ void read(double (&fragments)[count][8], int k) const {
#pragma unroll
        for (int i = 0; i < count; ++i) {
#pragma unroll
            for (int part = 0; part < 8; ++part) {
                const int outer = i * kSquare + (second_along_k ? part / 4 : part % 2) * 8;
                const int depth = k + (second_along_k ? part % 4 : part / 2) * 4;
                const int row = layout.rows_along_k ? outer : depth;
                const int column = layout.rows_along_k ? depth : outer;
                const double* const first = tile_ + place_[column / step % places];
                fragments[i][part] = first[row * matrix_columns(layout) + column / (step * places) * (step * places)];
            }
        }
    }
    __device__ void next_stage() {
        ++stage_;
        tile_ += (stage_ == stages ? 1 - stages : 1) * distance_;
        if (stage_ == stages) stage_ = 0;
    }

private:
    // Columns from one of a lane's elements of a row to its next, and how many such steps it takes until the chunks' order repeats.
    static constexpr int step = layout.rows_along_k ? 4 : 8;
    static constexpr int repeats = static_cast<int>(swizzle_span(layout)) * layout.chunk / step;
    static constexpr int places = repeats > 1 ? repeats : 1;

    int distance_;
    const double* tile_;
    int place_[places];
    int stage_ = 0;
};

// The sums that a lane holds of a warp's rectangle of C: those of 16 x 8 products.
template <class Kernel>
using Sums = SumOf<Kernel>[warp_rows(Kernel::config) / kSquare][warp_columns(Kernel::config) / 8][4];

// sums += fragments of A * fragments of B.
template <class Kernel>
__device__ inline void multiply(const Fragments<Kernel>& fragments, Sums<Kernel>& sums) {
    constexpr int squares_m = warp_rows(Kernel::config) / kSquare;
    constexpr int products_n = warp_columns(Kernel::config) / 8;
#pragma unroll
    for (int i = 0; i < squares_m; ++i) {
#pragma unroll
        for (int step = 0; step < products_n; ++step) {
            // The products go forth and back, so that neighbouring products share a fragment.
            const int j = i % 2 == 0 ? step : products_n - 1 - step;
            const auto& b = fragments.b[j / 2];
            if constexpr (Kernel::signature.type_a == ElementType::f64)
                ptx::mma_m16n8k16_f64(sums[i][j], fragments.a[i], b[j % 2 * 4], b[j % 2 * 4 + 1], b[j % 2 * 4 + 2], b[j % 2 * 4 + 3]);
            else if constexpr (Kernel::signature.type_a == ElementType::s8)
                ptx::mma_m16n8k32_s8(sums[i][j], fragments.a[i], b[j % 2 * 2], b[j % 2 * 2 + 1]);
            else if constexpr (Kernel::signature.type_a == ElementType::f16)
                ptx::mma_m16n8k16_f16(sums[i][j], fragments.a[i], b[j % 2 * 2], b[j % 2 * 2 + 1]);
            else
                ptx::mma_m16n8k16_bf16(sums[i][j], fragments.a[i], b[j % 2 * 2], b[j % 2 * 2 + 1]);
        }
    }
}

// Two neighbouring lanes hold two columns each of two products side by side. They exchange one pair, so that each stores four
// neighbouring columns: the lower lane of the left product, the upper lane of the right one. Where bytes of B lie along N a lane has four
// neighbouring columns already; where those of A lie along M its rows are 2g and 2g + 1.
template <class Kernel, bool guarded, class Output>
__device__ inline void store_sums(const Output& output, i64 row0, i64 column0, const Sums<Kernel>& sums) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool upper = lane % 2 != 0;
    constexpr bool has_neighbours = Layouts<Kernel>::b.reads_pairs_of_rows;
    constexpr int from_row = Layouts<Kernel>::a.reads_pairs_of_rows ? 2 : 1;
    constexpr int from_half = Layouts<Kernel>::a.reads_pairs_of_rows ? 1 : 8;
    const int row = lane / 4 * from_row;
    const int column = has_neighbours ? lane % 4 * 4 : lane % 4 / 2 * 4 + (upper ? 8 : 0);
#pragma unroll
    for (int i = 0; i < warp_rows(Kernel::config) / kSquare; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
            for (int j = 0; j < warp_columns(Kernel::config) / 8; j += 2) {
                SumOf<Kernel> group[4];
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    const SumOf<Kernel> left = sums[i][j][half * 2 + e];
                    const SumOf<Kernel> right = sums[i][j + 1][half * 2 + e];
                    if constexpr (has_neighbours) {
                        group[2 * e] = left;
                        group[2 * e + 1] = right;
                        continue;
                    }
                    const SumOf<Kernel> received = __shfl_xor_sync(0xffffffffu, upper ? left : right, 1);
                    group[e] = upper ? received : left;
                    group[2 + e] = upper ? right : received;
                }
                output.template store<4, guarded>(row0 + i * kSquare + half * from_half + row, column0 + j * 8 + column, group);
            }
        }
    }
}

// The kind of copy that brings an operand.
template <class T, const TileLayout& layout, class Kernel, bool realigned = layout.realigned>
struct CopyOf {
    using Type = TileCopy<T, layout, threads(Kernel::config), Kernel>;
};
template <class T, const TileLayout& layout, class Kernel>
struct CopyOf<T, layout, Kernel, true> {
    using Type = RealigningCopy<T, layout, threads(Kernel::config), Kernel>;
};

template <class Kernel>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(Kernel::config, Kernel::signature) == nullptr);
    using T = ElementOfA<Kernel>;
    SharedMemory shared;
    const SharedTiles<T> tiles_a = shared.take<T, tile_elements(Layouts<Kernel>::a), Kernel::config.stages>();
    const SharedTiles<T> tiles_b = shared.take<T, tile_elements(Layouts<Kernel>::b), Kernel::config.stages>();

    const WorkItem item = work_item<Kernel>(args, blockIdx.x);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int row0 = warp / Kernel::config.warps_n * warp_rows(Kernel::config);
    const int column0 = warp % Kernel::config.warps_n * warp_columns(Kernel::config);
    using CopyA = typename CopyOf<T, Layouts<Kernel>::a, Kernel>::Type;
    using CopyB = typename CopyOf<T, Layouts<Kernel>::b, Kernel>::Type;
    TilePipeline<CopyA, CopyB, Kernel::config.stages> pipeline(
        CopyA(matrix_a<Kernel>(args, item.batch), args.lda, item.row0, args.m, item.k_begin, item.k_end),
        CopyB(matrix_b<Kernel>(args, item.batch), args.ldb, item.column0, args.n, item.k_begin, item.k_end), tiles_a, tiles_b, item.tiles);
    FragmentReader<T, Layouts<Kernel>::a, Kernel::config.stages, false> reader_a(tiles_a, row0);
    FragmentReader<T, Layouts<Kernel>::b, Kernel::config.stages, true> reader_b(tiles_b, column0);
    // The fragments that are multiplied, and the next ones, which are on their way where there is room for both.
    constexpr bool ahead = reads_ahead(Kernel::signature);
    Fragments<Kernel> fragments[ahead ? 2 : 1];
    Sums<Kernel> sums = {};
    const auto read = [&](Fragments<Kernel>& to, int k) {
        reader_a.read(to.a, k);
        reader_b.read(to.b, k);
    };
    const auto next_tile = [&] {
        pipeline.next_tile();
        reader_a.next_stage();
        reader_b.next_stage();
    };

    wait_for_previous_kernel();
    pipeline.begin();
    if constexpr (ahead) read(fragments[0], 0);
    constexpr int depth = instruction_k(Kernel::signature);
    constexpr int steps = Kernel::config.block_k / depth;
    for (int tile = 0; tile < item.tiles; ++tile) {
#pragma unroll
        for (int step = 0; step < steps; ++step) {
            if (step == 0) pipeline.start_copy();
            if constexpr (ahead) {
                if (step + 1 == steps) next_tile();
                read(fragments[(step + 1) % 2], (step + 1) % steps * depth);
                multiply<Kernel>(fragments[step % 2], sums);
            } else {
                read(fragments[0], step * depth);
                multiply<Kernel>(fragments[0], sums);
                if (step + 1 == steps) next_tile();
            }
        }
        // After an odd number of steps the first fragments of the next tile are where the second ones belong.
        if constexpr (ahead && steps % 2 != 0) fragments[0] = fragments[1];
    }

    const auto output = output_of<Kernel>(args, item);
    store_by_boundary<Kernel>(args, item,
                              [&]<bool guarded>() { store_sums<Kernel, guarded>(output, item.row0 + row0, item.column0 + column0, sums); });
}

}  // namespace tmm::mma
