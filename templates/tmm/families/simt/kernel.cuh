// The simt family: a block computes block_m x block_n of C, a thread thread_m x thread_n of them in registers. Tiles of A
// and B travel from global to shared memory, `stages` of them at once, while the block multiplies those that have landed.
//
//   a tile of A, or of B, in shared memory:         C of a block, in groups of 4 x 4 elements; a thread owns the
//                                                   groups at its place in each quadrant (16 x 16 threads, 8 x 8 each):
//            outer (m or n) ->
//          +--------------------------+                        n ->
//      k   | 0 1 2 3 4 5 …            |                +---------+---------+
//      |   | 0 1 2 3 4 5 …            |             m  | . t . . | . t . . |
//      v   +--------------------------+             |  | . . . . | . . . . |
//                                                   v  +---------+---------+
//   For one k a thread reads its groups of 4           | . t . . | . t . . |
//   neighbouring elements as vectors; the              | . . . . | . . . . |
//   lanes of a warp, 4 x 8 threads, read               +---------+---------+
//   neighbouring or equal vectors. Where a block's threads make no rectangles of 4 x 8, lanes follow each other along n, row after row.
//
// Where the matrix's rows run along k (A not transposed, B transposed), the copy turns the tile; or, with along_k, the tile's lines
// run along k as well, and a thread reads 4 k of a line at once. Its rows then stand alone, threads_m apart:
//
//          k ->
//        +-------------------+----+         lanes that read lines one after the other meet in no bank: lines are block_k
//   m    | t t t t | . . . . | pad|         elements long, a multiple of 8, and padded by 4
//   |    | . . . . | . . . . | pad|
//   v    +-------------------+----+
//
// Where neither has to be turned the copy engine may bring the tiles (tma_pipeline.cuh): in that case no instruction copies, and warps
// need not wait for each other. Where operands have to be packed for that, the grid's first blocks may do so (steps/pack/packers.cuh), or
// add up strips that were multiplied on the way (strips.cuh).
//
// With slice_k a block has threads for each slice of a tile's k, and those of all slices have the same part of C. Then a block's warps, not
// more blocks, fill an SM where C has few tiles:
//
//      k   | 0 1 2 … |  slice 0          a tile of A and B, slice_k = 2; the slices' sums meet in shared memory
//      |   |_________|                   at the end
//      v   | 8 9 …   |  slice 1
//
// The blocks of a cluster take parts of K of one tile and add them up through each other's shared memory. With stream_k blocks share
// those tiles that make no whole wave (stream.h).
#pragma once

#include "tmm/copy/batch.cuh"
#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/copy/tile_pipeline.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/families/simt/rules.h"
#include "tmm/families/simt/tma_pipeline.cuh"
#include "tmm/output/output.cuh"
#include "tmm/output/partial_sums.cuh"
#include "tmm/ptx.cuh"
#include "tmm/schedule/work_item.cuh"
#include "tmm/steps/pack/packers.cuh"
#include "tmm/steps/pack/strips.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm::simt {

// A thread's place among the threads_m x threads_n threads of its block.
struct ThreadPlace {
    int m;
    int n;
};

template <class Kernel>
__device__ inline ThreadPlace thread_place() {
    const int of_slice = static_cast<int>(threadIdx.x) % slice_threads(Kernel::config);
    if constexpr (!has_warps_of_rectangles(Kernel::config)) {
        return ThreadPlace{of_slice / threads_n(Kernel::config), of_slice % threads_n(Kernel::config)};
    } else {
        constexpr int rows = warp_m(Kernel::config);
        constexpr int columns = warp_n(Kernel::config);
        constexpr int warps_n = threads_n(Kernel::config) / columns;
        const int warp = of_slice / 32;
        const int lane = of_slice % 32;
        return ThreadPlace{warp / warps_n * rows + lane / columns, warp % warps_n * columns + lane % columns};
    }
}

// What the tiles of A and B are like in shared memory.
template <class Kernel>
struct Layouts {
    static constexpr TileLayout a = layout_a(Kernel::config, Kernel::signature);
    static constexpr TileLayout b = layout_b(Kernel::config, Kernel::signature);
};

// The place within the tile of a thread's i-th row, or column, of C.
template <const TileLayout& layout, int per_thread, int threads_across>
__device__ constexpr int element_of(int thread, int i) {
    constexpr int group = group_of(layout, per_thread);
    return (i / group * threads_across + thread) * group + i % group;
}

// One operand's elements for a thread: those of the k that is multiplied, and those of the next k, which are on their way. Where lines run
// along K, a read brings several k at once.
template <class T, const TileLayout& layout, int per_thread, int threads_across, int stages>
class Fragments {
public:
    // `thread`: the thread's place along the operand's rows or columns of C. first_k: where its slice of each tile begins.
    __device__ Fragments(SharedTiles<T> tiles, int thread, int first_k)
        : distance_(tiles.distance),
          stage_tile_(tiles[0] +
                      element_of<layout, per_thread, threads_across>(thread, 0) * (layout.lines_along_k ? layout.line_distance : 1) +
                      first_k * (layout.lines_along_k ? 1 : layout.line_distance)) {}

    // Brings the elements of k, counted within the slice, where those before it did not bring them along.
    __device__ void read(int k) {
        if (k % steps != 0) return;
        T(&values)[steps][per_thread] = values_[k / steps % 2];
        if constexpr (layout.lines_along_k) {
#pragma unroll
            for (int i = 0; i < per_thread; ++i) {
                const int line = element_of<layout, per_thread, threads_across>(0, i);
                const Vector<T, steps> read = load_vector<steps>(stage_tile_ + line * layout.line_distance + k);
#pragma unroll
                for (int step = 0; step < steps; ++step) values[step][i] = read.element[step];
            }
        } else {
            constexpr int group = group_of(layout, per_thread);
            const T* line = stage_tile_ + k * layout.line_distance;
#pragma unroll
            for (int i = 0; i < per_thread; i += group) {
                const Vector<T, group> read = load_vector<group>(line + element_of<layout, per_thread, threads_across>(0, i));
#pragma unroll
                for (int j = 0; j < group; ++j) values[0][i + j] = read.element[j];
            }
        }
    }
    __device__ const T (&operator[](int k) const)[per_thread] {
        return values_[k / steps % 2][k % steps];
    }

    // From now on k is counted from the line that is so many lines further on.
    __device__ void next_lines(int lines) {
        stage_tile_ += lines * layout.line_distance;
    }
    __device__ void next_stage() {
        ++stage_;
        next_stage(stage_ == stages, 0);
        if (stage_ == stages) stage_ = 0;
    }
    // The same where the caller counts the stages: `round` is true where the ring begins anew.
    __device__ void next_stage(bool round, int lines) {
        stage_tile_ += (round ? 1 - stages : 1) * distance_ + lines * layout.line_distance;
    }

private:
    static constexpr int steps = steps_at_once(layout);

    int distance_;
    const T* stage_tile_;
    int stage_ = 0;
    T values_[2][steps][per_thread];
};

template <class Kernel>
using FragmentsOfA =
    Fragments<ElementOfA<Kernel>, Layouts<Kernel>::a, Kernel::config.thread_m, threads_m(Kernel::config), Kernel::config.stages>;
template <class Kernel>
using FragmentsOfB =
    Fragments<ElementOfB<Kernel>, Layouts<Kernel>::b, Kernel::config.thread_n, threads_n(Kernel::config), Kernel::config.stages>;

// A thread's sums.
template <class Kernel>
using Sums = SumOf<Kernel>[Kernel::config.thread_m][Kernel::config.thread_n];

// The steps go forth one time and back the next.
__device__ constexpr int turning(int step, int length, int time) {
    return time % 2 == 0 ? step : length - 1 - step;
}

// A thread's row and column of C.
struct ElementPlace {
    int i;
    int j;
};

// The order of a thread's products for one k. The register file delivers two of a product's three operands a cycle; the third must be the
// same as in the product before. So each step keeps its row or its column. With two rows at a time:
//
//        0   3   4   7       The way takes `together` rows (or columns) at a time, along them forth and back, and across them down
//        1   2   5   6       and up. ptxas makes its own of it: of kernels that differ in nothing else one reaches 0.78 of the FFMA
//       15  12  11   8       rate in its main loop, another 0.88; and which, hangs on tile and layout, so that the tuner tries them.
//       14  13  10   9
template <class Kernel>
__device__ constexpr ElementPlace nth_product(int step) {
    constexpr int together = taken_together(Kernel::config);
    constexpr int length = takes_rows(Kernel::config) ? Kernel::config.thread_n : Kernel::config.thread_m;
    const int band = step / (together * length);
    const int along = step / together % length;
    const int line = band * together + turning(step % together, together, along);
    const int place = turning(along, length, band);
    return takes_rows(Kernel::config) ? ElementPlace{line, place} : ElementPlace{place, line};
}

// sums += fragment of A * fragment of B.
template <class Kernel>
__device__ inline void multiply(const ElementOfA<Kernel> (&a)[Kernel::config.thread_m],
                                const ElementOfB<Kernel> (&b)[Kernel::config.thread_n], Sums<Kernel>& sums) {
    using Sum = SumOf<Kernel>;
#pragma unroll
    for (int step = 0; step < Kernel::config.thread_m * Kernel::config.thread_n; ++step) {
        const auto [i, j] = nth_product<Kernel>(step);
        sums[i][j] = multiply_add(to_number<Sum>(a[i]), to_number<Sum>(b[j]), sums[i][j]);
    }
}

// Calls store with each of the thread's groups of neighbouring sums: its row and column within the tile, and the sums.
template <class Kernel, class Store>
__device__ inline void for_each_group(ThreadPlace place, const Sums<Kernel>& sums, Store&& store) {
#pragma unroll
    for (int i = 0; i < Kernel::config.thread_m; ++i) {
        const int row = element_of<Layouts<Kernel>::a, Kernel::config.thread_m, threads_m(Kernel::config)>(place.m, i);
#pragma unroll
        for (int j = 0; j < Kernel::config.thread_n; j += group_of(Layouts<Kernel>::b, Kernel::config.thread_n))
            store(row, element_of<Layouts<Kernel>::b, Kernel::config.thread_n, threads_n(Kernel::config)>(place.n, j), &sums[i][j]);
    }
}

template <class Kernel, bool guarded>
__device__ inline void store_tile(const Output<Kernel, is_partial<Kernel>>& output, i64 row0, i64 column0, ThreadPlace place,
                                  const Sums<Kernel>& sums) {
    for_each_group<Kernel>(place, sums, [&](int row, int column, const SumOf<Kernel>* group) {
        output.template store<group_of(Layouts<Kernel>::b, Kernel::config.thread_n), guarded>(row0 + row, column0 + column, group);
    });
}

// Hands store(place, vector) each group of the sums, for others to add up: block_m rows of block_n elements from `part` on, in which
// neighbouring columns have changed places. Sums that leave as a vector are added up in registers that follow each other, every other
// register in the same bank as the element of B that it is multiplied with, if that stands in a vector, too; in the next bank, if they
// change places. Where the order of the products goes by columns neither helps; there the sums are multiplied by a 1 that the compiler does
// not know, so that they leave from other registers than they are added up in.
template <class Kernel, class Store>
__device__ inline void store_part(SumOf<Kernel>* part, float one, ThreadPlace place, const Sums<Kernel>& sums, Store&& store) {
    for_each_group<Kernel>(place, sums, [&](int row, int column, const SumOf<Kernel>* group) {
        constexpr int width = group_of(Layouts<Kernel>::b, Kernel::config.thread_n);
        Vector<SumOf<Kernel>, width> values;
#pragma unroll
        for (int i = 0; i < width; ++i)
            values.element[place_in_part(i) % width] = takes_rows(Kernel::config) ? group[i] : group[i] * to_number<SumOf<Kernel>>(one);
        store(part + row * Kernel::config.block_n + (width == 1 ? place_in_part(column) : column), values);
    });
}

// The slice that a thread multiplies. In the end the threads of the first slice hold all of the sums.
template <class Kernel>
__device__ inline int slice_of_thread() {
    return Kernel::config.slice_k == 1 ? 0 : static_cast<int>(threadIdx.x) / slice_threads(Kernel::config);
}

// The first slice's sums += those of the others: the second half of the slices hands theirs to the first half, and so on with what is
// left. They hand over where nobody else has read, so that one barrier each time is enough:
//
//      slice       0     1     2     3          slice_k = 4; part 0 and part 1 in shared memory, each with every sum of a thread
//                  |     |     |-----+-> 0      beside the same sum of the next thread
//                  += 0  += 1        |-> 1
//                  |     |-> 1
//                  += 1
template <class Kernel>
__device__ inline void add_up_slices(Sums<Kernel>& sums, SharedTiles<SumOf<Kernel>> parts) {
    using Sum = SumOf<Kernel>;
    const int slice = slice_of_thread<Kernel>();
    const int thread = static_cast<int>(threadIdx.x) % slice_threads(Kernel::config);
    const auto for_each_sum = [&](int from_slice, auto&& visit) {
        Sum* part = parts[from_slice % parts_of_slices(Kernel::config)] + thread;
#pragma unroll
        for (int i = 0; i < Kernel::config.thread_m; ++i) {
#pragma unroll
            for (int j = 0; j < Kernel::config.thread_n; ++j)
                visit(sums[i][j], part[(i * Kernel::config.thread_n + j) * slice_threads(Kernel::config)]);
        }
    };
#pragma unroll
    for (int half = Kernel::config.slice_k / 2; half > 0; half /= 2) {
        if (slice >= half && slice < 2 * half) for_each_sum(slice, [](Sum sum, Sum& place) { place = sum; });
        // The second half's sums are there.
        __syncthreads();
        if (slice < half) for_each_sum(slice + half, [](Sum& sum, Sum other) { sum += other; });
    }
}

// The blocks of a cluster hold parts of one tile's sums. Each adds up its share of the tile, in the order of the ranks, out of all
// the blocks' shared memory, and stores it. `part`: block_m rows of block_n elements in shared memory.
template <class Kernel, bool guarded>
__device__ inline void store_cluster_tile(const GemmArgs& args, const Output<Kernel, is_partial<Kernel>>& output, i64 row0, i64 column0,
                                          ThreadPlace place, const Sums<Kernel>& sums, SumOf<Kernel>* part) {
    using Sum = SumOf<Kernel>;
    if (slice_of_thread<Kernel>() == 0)
        store_part<Kernel>(part, args.one, place, sums, [](Sum* to, const auto& values) { store_vector(to, values); });
    // Every block's part is there.
    ptx::cluster_sync();
    constexpr int vectors_per_row = Kernel::config.block_n / kSumVector;
    const int rank = static_cast<int>(ptx::cluster_ctarank());
    for (int vector = rank * threads(Kernel::config) + static_cast<int>(threadIdx.x); vector < Kernel::config.block_m * vectors_per_row;
         vector += Kernel::config.cluster * threads(Kernel::config)) {
        const int row = vector / vectors_per_row;
        const int column = vector % vectors_per_row * kSumVector;
        // A thread that reads parts must also store their sum: the parts are then there before the thread meets the others and a block may
        // end.
        if (guarded && (row0 + row >= output.rows || column0 + column >= output.columns)) continue;
        Vector<Sum, kSumVector> parts[Kernel::config.cluster];
#pragma unroll
        for (int r = 0; r < Kernel::config.cluster; ++r) parts[r] = load_vector<kSumVector>(ptx::mapa(part, r) + vector * kSumVector);
        const Vector<Sum, kSumVector> sum = sum_of_parts(parts);
        Sum results[kSumVector];
#pragma unroll
        for (int i = 0; i < kSumVector; ++i) results[i] = sum.element[place_in_part(i)];
        output.template store<kSumVector, guarded>(row0 + row, column0 + column, results);
    }
    // No block ends, and its shared memory with it, before the others have read it.
    ptx::cluster_meet();
}

// `part`: where a cluster's blocks show each other their sums.
template <class Kernel>
__device__ inline void store_results_of(const GemmArgs& args, const WorkItem& item, ThreadPlace place, const Sums<Kernel>& sums,
                                        SumOf<Kernel>* part) {
    const auto output = output_of<Kernel>(args, item);
    store_by_boundary<Kernel>(args, item, [&]<bool guarded>() {
        if constexpr (Kernel::config.cluster > 1)
            store_cluster_tile<Kernel, guarded>(args, output, item.row0, item.column0, place, sums, part);
        else if (slice_of_thread<Kernel>() == 0)
            store_tile<Kernel, guarded>(output, item.row0, item.column0, place, sums);
    });
}

// The item's tiles, in stretches whose lines are waited for where blocks of the kernel pack them.
template <class Kernel>
__device__ inline auto stretches_of(const Arguments<Kernel>& args, const WorkItem& item) {
    if constexpr (pack::packs_beside(Kernel::config))
        return pack::PackedStretches<Kernel>(args.packers, args.m, args.n, item.tiles);
    else
        return pack::NoStretches{};
}

template <class Kernel>
struct Tiles {
    using T = ElementOfA<Kernel>;
    SharedTiles<T> a;
    SharedTiles<T> b;
    // Barriers of the tiles that the copy engine brings.
    unsigned long long* barriers = nullptr;

    __device__ explicit Tiles(SharedMemory& shared)
        : a(shared.take<T, tile_elements(Layouts<Kernel>::a), Kernel::config.stages>()),
          b(shared.take<T, tile_elements(Layouts<Kernel>::b), Kernel::config.stages>()) {
        if constexpr (brings_by_tma(Kernel::config)) barriers = shared.take<unsigned long long, barriers_of(Kernel::config)>()[0];
    }

    // The pipeline that brings an item's tiles to shared memory.
    __device__ auto pipeline(const Arguments<Kernel>& args, const WorkItem& item) const {
        if constexpr (brings_by_tma(Kernel::config)) {
            const auto batch = [&](i64 stride) { return stride != 0 ? static_cast<int>(item.batch) : 0; };
            return TmaPipeline<T, Layouts<Kernel>::a, Layouts<Kernel>::b, threads(Kernel::config) / 32, Kernel>(
                {&args.tiles_a, static_cast<int>(item.row0), batch(args.stride_a), a},
                {&args.tiles_b, static_cast<int>(item.column0), batch(args.stride_b), b}, barriers, item.k_begin, item.tiles);
        } else {
            using CopyA = TileCopy<T, Layouts<Kernel>::a, threads(Kernel::config), Kernel>;
            using CopyB = TileCopy<T, Layouts<Kernel>::b, threads(Kernel::config), Kernel>;
            return TilePipeline<CopyA, CopyB, Kernel::config.stages>(
                CopyA(matrix_a<Kernel>(args, item.batch), args.lda, item.row0, args.m, item.k_begin, item.k_end),
                CopyB(matrix_b<Kernel>(args, item.batch), args.ldb, item.column0, args.n, item.k_begin, item.k_end), a, b, item.tiles);
        }
    }
};

// A 0 that is made of all that the warp has read (ReadBits): of sums to which each vector of a fragment contributes.
template <class Kernel>
__device__ inline unsigned zero_after(float one, const Sums<Kernel>& sums) {
    constexpr int group_a = group_of(Layouts<Kernel>::a, Kernel::config.thread_m);
    constexpr int group_b = group_of(Layouts<Kernel>::b, Kernel::config.thread_n);
    constexpr int vectors_a = Kernel::config.thread_m / group_a;
    constexpr int vectors_b = Kernel::config.thread_n / group_b;
    ReadBits bits(one);
#pragma unroll
    for (int i = 0; i < (vectors_a > vectors_b ? vectors_a : vectors_b); ++i)
        bits.add(sums[i % vectors_a * group_a][i % vectors_b * group_b]);
    return bits.zero();
}

// How many of an item's tiles are multiplied whole, and how many k of the thread's slice are multiplied one at a time after them. The last
// tile holds zeros past the end of K: where these are half of it or more, it is not multiplied whole.
struct WholeTiles {
    int tiles;
    int k_left;
};

template <class Kernel>
__device__ inline WholeTiles whole_tiles(const WorkItem& item) {
    if constexpr (!leaves_k(Kernel::config)) return {item.tiles, 0};
    const int depth = static_cast<int>(item.k_end - item.k_begin);
    const int left = depth % Kernel::config.block_k;
    if (left > Kernel::config.block_k / 2 || depth <= 0) return {item.tiles, 0};
    const int of_slice = left - slice_of_thread<Kernel>() * slice_depth(Kernel::config);
    return {depth / Kernel::config.block_k, of_slice < slice_depth(Kernel::config) ? of_slice : slice_depth(Kernel::config)};
}

// sums = the item's rows of A * its columns of B, over its part of K, and of that over the slices that are the thread's.
template <class Kernel>
__device__ inline void multiply_item(const Arguments<Kernel>& args, const WorkItem& item, ThreadPlace place, const Tiles<Kernel>& tiles,
                                     Sums<Kernel>& sums) {
    auto pipeline = tiles.pipeline(args, item);
    constexpr int depth = slice_depth(Kernel::config);
    FragmentsOfA<Kernel> a(tiles.a, place.m, slice_of_thread<Kernel>() * depth);
    FragmentsOfB<Kernel> b(tiles.b, place.n, slice_of_thread<Kernel>() * depth);
#pragma unroll
    for (int i = 0; i < Kernel::config.thread_m; ++i) {
#pragma unroll
        for (int j = 0; j < Kernel::config.thread_n; ++j) sums[i][j] = 0;
    }
    wait_for_previous_kernel();
    auto stretches = stretches_of<Kernel>(args, item);
    stretches.wait_for(0);
    pipeline.begin();
    a.read(0);
    b.read(0);
    constexpr int loop = loop_depth(Kernel::config);
    const WholeTiles whole = whole_tiles<Kernel>(item);
    // Fragments are read from the lines that follow the loop's from now on, of the next tile where this one ends.
    const auto go_on = [&](bool tile_ends) {
        if (!tile_ends) {
            a.next_lines(loop);
            b.next_lines(loop);
        } else if constexpr (brings_by_tma(Kernel::config)) {
            const bool round = pipeline.next_tile();
            a.next_stage(round, loop - depth);
            b.next_stage(round, loop - depth);
        } else {
            pipeline.next_tile();
            a.next_stage();
            b.next_stage();
        }
    };
    const auto multiply_tile = [&] {
#pragma unroll 1
        for (int k0 = 0; k0 < depth; k0 += loop) {
#pragma unroll
            for (int k = 0; k < loop; ++k) {
                if (k == (brings_by_tma(Kernel::config) ? 1 % loop : 0) && k0 == 0) pipeline.start_copy();
                const int next = (k + 1) % loop;
                if (next == 0) go_on(k0 + loop >= depth);
                a.read(next);
                b.read(next);
                multiply<Kernel>(a[k], b[k], sums);
                if constexpr (brings_by_tma(Kernel::config)) {
                    if (next == 0 && k0 + loop >= depth) pipeline.release_previous(zero_after<Kernel>(args.one, sums));
                }
            }
        }
    };
    if constexpr (pack::packs_beside(Kernel::config)) {
        for (int tile = 0; tile < whole.tiles;) {
            stretches.wait_for(tile);
            for (const int end = stretches.end_of(tile, whole.tiles); tile < end; ++tile) multiply_tile();
        }
    } else {
        for (int tile = 0; tile < whole.tiles; ++tile) multiply_tile();
    }
    if constexpr (leaves_k(Kernel::config)) {
#pragma unroll 1
        for (int k = 0; k < whole.k_left; ++k) {
            multiply<Kernel>(a[0], b[0], sums);
            a.next_lines(1);
            b.next_lines(1);
            a.read(0);
            b.read(0);
        }
    }
}

// Multiplies a block's stretch of the line of all phases (stream.h): parts of tiles at its ends, and whole tiles between them. The place
// that the block has come to stands in shared memory, in `progress`, and is read again where it is needed, since the products need all
// registers.
template <class Kernel>
__device__ inline void multiply_stretch(const GemmArgs& args, ThreadPlace place, const Tiles<Kernel>& tiles, volatile i64* progress) {
    const PhaseLine line = phase_line(Kernel::config, args);
    const auto what_is_left = [&] { return Stretch{*progress, line.stretch_of(blockIdx.x).end}; };
    if (threadIdx.x == 0) *progress = line.stretch_of(blockIdx.x).begin;
    __syncthreads();
    while (what_is_left().begin < what_is_left().end) {
        Sums<Kernel> sums;
        multiply_item<Kernel>(args, first_work_item<Kernel>(args, line, what_is_left()), place, tiles, sums);
        const Stretch left = what_is_left();
        if (line.phases_of_first_tile(left) == line.phases) {
            store_results_of<Kernel>(args, first_work_item<Kernel>(args, line, left), place, sums, nullptr);
        } else {
            const i64 part = line.part_of(blockIdx.x, line.first_tile(left));
            store_part<Kernel>(static_cast<SumOf<Kernel>*>(args.workspace) + part * (Kernel::config.block_m * Kernel::config.block_n),
                               args.one, place, sums, [](SumOf<Kernel>* to, const auto& values) { store_vector_global(to, values); });
        }
        // Everyone has read the last tile of A and B, and what was left, before the next item's come.
        __syncthreads();
        if (threadIdx.x == 0) *progress = left.begin + line.phases_of_first_tile(left);
        __syncthreads();
    }
}

// A block's number among the blocks that multiply. It is below 0 for blocks that pack lines or add up strips, which are the grid's first.
template <class Kernel>
__device__ inline int number_of_block(const Arguments<Kernel>& args) {
    if constexpr (pack::packs_beside(Kernel::config))
        return static_cast<int>(blockIdx.x) - args.packers.blocks;
    else if constexpr (leaves_strips_to_pack(Kernel::config))
        return static_cast<int>(blockIdx.x) - args.strips.blocks;
    else
        return static_cast<int>(blockIdx.x);
}

template <class Kernel>
__device__ void kernel(const Arguments<Kernel>& args) {
    static_assert(first_violation(Kernel::config, Kernel::signature) == nullptr);
    using T = SumOf<Kernel>;
    SharedMemory shared;
    if constexpr (pack::packs_beside(Kernel::config)) {
        if (number_of_block<Kernel>(args) < 0) {
            constexpr int stages = packer_stages(Kernel::config, Kernel::signature);
            const SharedTiles<float> squares = shared.take<float, pack::kSquareElements, stages>();
            wait_for_previous_kernel();
            pack::Packer<Kernel, threads(Kernel::config), stages>(args.packers, args.m, args.n, args.k, squares).run();
            return;
        }
    }
    if constexpr (leaves_strips_to_pack(Kernel::config)) {
        if (number_of_block<Kernel>(args) < 0) {
            T* const parts = shared.take<T, strips::shared_elements(threads(Kernel::config))>()[0];
            wait_for_previous_kernel();
            strips::Strips<Kernel, threads(Kernel::config)>(args, args.strips, parts).add_up();
            return;
        }
    }
    const Tiles<Kernel> tiles(shared);
    const ThreadPlace place = thread_place<Kernel>();
    if constexpr (Kernel::config.stream_k != 0) {
        multiply_stretch<Kernel>(args, place, tiles, shared.take<i64, 1>().first);
    } else {
        SharedTiles<T> part{};
        if constexpr (Kernel::config.cluster > 1) part = shared.take<T, Kernel::config.block_m * Kernel::config.block_n>();
        SharedTiles<T> slice_parts{};
        if constexpr (Kernel::config.slice_k > 1)
            slice_parts = shared.take<T, Kernel::config.block_m * Kernel::config.block_n, parts_of_slices(Kernel::config)>();
        const WorkItem item = work_item<Kernel>(args, static_cast<unsigned>(number_of_block<Kernel>(args)));
        Sums<Kernel> sums;
        multiply_item<Kernel>(args, item, place, tiles, sums);
        if constexpr (Kernel::config.slice_k > 1) add_up_slices<Kernel>(sums, slice_parts);
        store_results_of<Kernel>(args, item, place, sums, part.first);
    }
}

}  // namespace tmm::simt
