// A warpgroup's sums become rows of C by way of shared memory.
//
// Lane t of warp w holds these four sums of every 64 x n instruction of a warpgroup, for each 8 columns:
//
//     row 16 w + t / 4:      columns 2 (t % 4), 2 (t % 4) + 1
//     row 16 w + t / 4 + 8:  the same columns
#pragma once

#include "tmm/copy/chunks.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/families/wgmma/pipeline.cuh"
#include "tmm/output/output.cuh"
#include "tmm/output/partial_sums.cuh"
#include "tmm/output/staged.cuh"
#include "tmm/output/unaligned_rows.cuh"
#include "tmm/ptx.cuh"

namespace tmm::wgmma {

// The sums of a warpgroup, or what a gate makes of them, 64 rows at a time.
template <class Sum, int rows, int columns>
struct SumsOf {
    Sum of[rows / kRows][columns / 2];
};
template <class Kernel>
using Sums = SumsOf<SumOf<Kernel>, group_m(Kernel::config), group_n(Kernel::config)>;
template <class Kernel>
using ResultSums = SumsOf<SumOf<Kernel>, result_m(Kernel::config, Kernel::signature), result_n(Kernel::config, Kernel::signature)>;

// The block's tile of C, or of the partial result, as far as it exists.
template <class Kernel>
using TileOutput = Output<Kernel, is_partial<Kernel>, int>;
template <class Kernel>
__device__ inline TileOutput<Kernel> tile_output(const GemmArgs& args, const WorkItem& item) {
    const int row0 = Kernel::config.swap_ab ? item.right0 : item.left0;
    const int column0 = Kernel::config.swap_ab ? item.left0 : item.right0;
    return output_tile<Kernel, 256>(args, item.batch, item.split, row0, column0);
}

// Calls visit with the row and column, within 64 x n, of each of a thread's sums.
template <class Sum, int count, class Visit>
__device__ inline void for_each_sum(const Sum (&sums)[count], int lane, int first_column, int columns, Visit&& visit) {
#pragma unroll
    for (int column = 0; column < columns; column += 8) {
#pragma unroll
        for (int i = 0; i < 4; ++i) visit(lane / 4 + i / 2 * 8, column + lane % 4 * 2 + i % 2, sums[(first_column + column) / 2 + i]);
    }
}

// The same for the pairs of neighbours that a thread has.
template <class Sum, int count, class Visit>
__device__ inline void for_each_pair(const Sum (&sums)[count], int lane, int first_column, int columns, Visit&& visit) {
#pragma unroll
    for (int column = 0; column < columns; column += 8) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int sum = (first_column + column) / 2 + half * 2;
            visit(lane / 4 + half * 8, column + lane % 4 * 2, Vector<Sum, 2>{sums[sum], sums[sum + 1]});
        }
    }
}

// Puts a warp's 16 rows of `columns` sums, from first_column on, in C's rows where place(row, column, rows on, columns on) says, each as
// made(row, column, sum, before) makes it, in type T. Rows and columns are C's, counted from those of the first of these sums. before: the
// value that stood there, where it is needed (over). type: T's type, where it has 16 bits.
template <class Kernel, class T, ElementType type, int columns, bool over, int count, class Made, class Place>
__device__ inline void put_sums(const SumOf<Kernel> (&sums)[count], int lane, int first_column, Made&& made, Place&& place) {
    using Sum = SumOf<Kernel>;
    constexpr bool transposed = Kernel::config.swap_ab != 0;
    const auto made_in_c = [&](int row, int column, Sum sum, T before) {
        return transposed ? made(column, row, sum, before) : made(row, column, sum, before);
    };
    if constexpr (sizeof(T) == 2) {
        // The pair of 8 columns, from column c on, in row lane / 4 of the upper or lower 8 rows.
        const auto pair = [&](int c, int lower, unsigned before) {
            const int sum = (first_column + c) / 2 + lower * 2;
            const int row = lane / 4 + lower * 8;
            const int column = c + lane % 4 * 2;
            const auto both = bits_as<Vector<T, 2>>(before);
            return rounded_pair<type>(made_in_c(row, column, sums[sum], both.element[0]),
                                      made_in_c(row, column + 1, sums[sum + 1], both.element[1]));
        };
        // The matrices are 8 x 8: rows 0 to 7 and 8 to 15 of 8 columns, then of the next 8 columns where there are any.
        const int row = lane / 8 % 2 * 8;
        const auto at = [&](int column, int c) {
            return transposed ? place(column + lane % 8, row, c, 0) : place(row + lane % 8, column, 0, c);
        };
#pragma unroll
        for (int c = 0; c + 16 <= columns; c += 16) {
            T* const to = at(lane / 16 * 8, c);
            unsigned before[4] = {};
            if constexpr (over && transposed) ptx::ldmatrix_x4_trans(before, to);
            if constexpr (over && !transposed) ptx::ldmatrix_x4(before, to);
            ptx::stmatrix_x4<transposed>(
                to, {pair(c, 0, before[0]), pair(c, 1, before[1]), pair(c + 8, 0, before[2]), pair(c + 8, 1, before[3])});
        }
        if constexpr (columns % 16 != 0) {
            constexpr int c = columns - 8;
            T* const to = at(0, c);
            unsigned before[4] = {};
            if constexpr (over && transposed) ptx::ldmatrix_x4_trans(before, to);
            if constexpr (over && !transposed) ptx::ldmatrix_x4(before, to);
            ptx::stmatrix_x2<transposed>(to, {pair(c, 0, before[0]), pair(c, 1, before[1])});
        }
    } else if constexpr (transposed) {
        for_each_sum(sums, lane, first_column, columns, [&](int row, int column, Sum sum) {
            T* const to = place(column, row, 0, 0);
            *to = made_in_c(row, column, sum, over ? *to : T{});
        });
    } else {
        for_each_pair(sums, lane, first_column, columns, [&](int row, int column, Vector<Sum, 2> pair) {
            T* const to = place(row, column, 0, 0);
            const Vector<T, 2> before = over ? load_vector<2>(to) : Vector<T, 2>{};
            for (int i = 0; i < 2; ++i) pair.element[i] = made_in_c(row, column + i, pair.element[i], before.element[i]);
            store_vector(to, pair);
        });
    }
}

// A warp turns its 16 rows of `columns` sums, from first_column on, into rows of C in shared memory, and writes those by vectors, at C's
// edges as far as they exist. With swap_ab the sums' rows are C's columns.
template <class Kernel, int columns>
__device__ inline void store_columns(const TileOutput<Kernel>& output, int lane, int left, int right,
                                     const SumOf<Kernel> (&sums)[result_n(Kernel::config, Kernel::signature) / 2], int first_column,
                                     unsigned char* staged_bytes) {
    using O = TileOutput<Kernel>;
    using S = Staged<O>;
    using T = typename S::Type;
    using Sum = SumOf<Kernel>;
    constexpr int distance = staged_distance(Kernel::config, Kernel::signature, columns);
    constexpr int row_length = Kernel::config.swap_ab ? kWarpRows : columns;
    constexpr int rows = Kernel::config.swap_ab ? columns : kWarpRows;
    constexpr int aligned = O::Target::signature.align_c / static_cast<int>(sizeof(typename O::C));
    constexpr int width = aligned < row_length ? aligned : row_length;
    const int row0 = Kernel::config.swap_ab ? right : left;
    const int column0 = Kernel::config.swap_ab ? left : right;
    T* const staged = reinterpret_cast<T*>(staged_bytes);
    put_sums<Kernel, T, O::Target::signature.type_c, columns, false>(
        sums, lane, first_column, [&](int row, int column, Sum sum, T) { return S::made(output, row0 + row, column0 + column, sum); },
        [&](int row, int column, int rows_on, int columns_on) { return staged + (row + rows_on) * distance + column + columns_on; });
    // The warp's sums are there.
    __syncwarp();
    constexpr int elements = rows * row_length;
    constexpr int turn = 32 * width;
    // Reading C takes as long as memory does, so that some turns go together.
    constexpr int together = !O::Target::signature.reads_c ? 1 : width < 4 ? 8 : 16 / width;
#pragma unroll 1
    for (int first = 0; first < elements; first += together * turn) {
        const auto for_each_turn = [&](auto&& visit) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int element = first + i * turn + lane * width;
                const int row = element / row_length;
                const int column = element % row_length;
                if ((elements % (together * turn) == 0 || element < elements) && output.has(row0 + row + 1, column0 + column + width))
                    visit(i, row, column);
            }
        };
        Vector<typename O::C, width> before[together] = {};
        if (output.results.reads_c())
            for_each_turn([&](int i, int row, int column) { before[i] = load_vector<width>(output.at(row0 + row, column0 + column)); });
        for_each_turn([&](int i, int row, int column) {
            typename O::C* const c = output.at(row0 + row, column0 + column);
            S::template store<width>(output, row0 + row, column0 + column, c, staged + row * distance + column, before[i]);
        });
    }
    // Stores what C has of the last vector of each row, where C ends within that vector.
    const int columns_here = output.columns - column0;
    if (width > 1 && columns_here < row_length && columns_here % width > 0) {
#pragma unroll 1
        for (int element = lane; element < rows * width; element += 32) {
            const int row = element / width;
            const int column = columns_here / width * width + element % width;
            if (!output.has(row0 + row + 1, column0 + column + 1)) continue;
            typename O::C* const c = output.at(row0 + row, column0 + column);
            Vector<typename O::C, 1> before = {};
            if (output.results.reads_c()) before = load_vector<1>(c);
            S::template store<1>(output, row0 + row, column0 + column, c, staged + row * distance + column, before);
        }
    }
    // The rows have been written before the next ones overwrite them.
    __syncwarp();
}

// The same where C's rows start at any element of 16 bits.
template <class Kernel, int columns>
__device__ inline void store_unaligned_columns(const TileOutput<Kernel>& output, const UnalignedRows<TileOutput<Kernel>>& rows, int lane,
                                               int left, int right,
                                               const SumOf<Kernel> (&sums)[result_n(Kernel::config, Kernel::signature) / 2],
                                               int first_column) {
    constexpr int distance = staged_distance(Kernel::config, Kernel::signature, columns);
    using Target = typename TileOutput<Kernel>::Target;
    using Sum = SumOf<Kernel>;
    const auto made = [&, results = output.results](int row, int column, Sum sum) {
        return results.element(within<Target>(row, output.rows), within<Target>(column, output.columns), sum, {});
    };
    for_each_sum(sums, lane, first_column, columns, [&](int row, int column, Sum sum) {
        if constexpr (Kernel::config.swap_ab)
            *rows.template at<distance>(column, row) = made(right + column, left + row, sum);
        else
            *rows.template at<distance>(row, column) = made(left + row, right + column, sum);
    });
    // The warp's sums are there.
    __syncwarp();
    if constexpr (Kernel::config.swap_ab)
        rows.template store<columns, kWarpRows, distance>(first_column, 0);
    else
        rows.template store<kWarpRows, columns, distance>(0, first_column);
    // The rows have been written before the next ones overwrite them.
    __syncwarp();
}

// Calls visit with a constant of how many, and the first, of the columns that are staged together.
template <class Kernel, class Visit>
__device__ inline void for_each_staged(Visit&& visit) {
    constexpr int columns = staged_columns(Kernel::config, Kernel::signature);
    constexpr int all = result_n(Kernel::config, Kernel::signature);
    constexpr int rest = all % columns;
#pragma unroll
    for (int first_column = 0; first_column + columns <= all; first_column += columns) visit.template operator()<columns>(first_column);
    if constexpr (rest > 0) visit.template operator()<rest>(all - rest);
}

// A warp stages some of its columns at a time, one group after the other.
template <class Kernel>
__device__ inline void store_tile(const TileOutput<Kernel>& output, int group_row, int group_column, const ResultSums<Kernel>& sums,
                                  unsigned char* staged_bytes) {
    using O = TileOutput<Kernel>;
    const int thread = ptx::thread_here();
    const int warp = thread % kWarpgroup / 32;
    const int lane = thread % 32;
#pragma unroll
    for (int i = 0; i < result_m(Kernel::config, Kernel::signature) / kRows; ++i) {
        const int left = group_row + i * kRows + warp * kWarpRows;
        if constexpr (sizeof(typename O::C) == 2 && !O::Target::signature.reads_c && O::Target::signature.align_c < 16) {
            const int row0 = Kernel::config.swap_ab ? group_column : left;
            const int column0 = Kernel::config.swap_ab ? left : group_column;
            const UnalignedRows<O> rows(output, row0, column0, lane, reinterpret_cast<typename O::C*>(staged_bytes));
            for_each_staged<Kernel>([&]<int columns>(int first_column) {
                store_unaligned_columns<Kernel, columns>(output, rows, lane, left, group_column + first_column, sums.of[i], first_column);
            });
        } else {
            for_each_staged<Kernel>([&]<int columns>(int first_column) {
                store_columns<Kernel, columns>(output, lane, left, group_column + first_column, sums.of[i], first_column, staged_bytes);
            });
        }
    }
}

// The blocks of a cluster hold parts of one tile's sums. Each adds up its share of the tile, in the order of the ranks, out of all
// the blocks' shared memory, and stores it. `part`: the tile in rows of C, over the tiles that have been multiplied.
template <class Kernel>
__device__ inline void show_part(int group_row, int group_column, const Sums<Kernel>& sums, SumOf<Kernel>* part) {
    using Sum = SumOf<Kernel>;
    constexpr int distance = part_distance(Kernel::config);
    const int thread = ptx::thread_here();
    const int lane = thread % 32;
    const int warp = thread % kWarpgroup / 32;
#pragma unroll
    for (int i = 0; i < group_m(Kernel::config) / kRows; ++i) {
        const int left = group_row + i * kRows + warp * kWarpRows;
        if constexpr (Kernel::config.swap_ab) {
            for_each_sum(sums.of[i], lane, 0, group_n(Kernel::config),
                         [&](int row, int column, Sum sum) { part[(group_column + column) * distance + left + row] = sum; });
        } else {
            for_each_pair(sums.of[i], lane, 0, group_n(Kernel::config), [&](int row, int column, Vector<Sum, 2> pair) {
                store_vector(part + (left + row) * distance + group_column + column, pair);
            });
        }
    }
}

template <class Kernel>
__device__ inline void store_cluster_tile(const TileOutput<Kernel>& output, int thread, const SumOf<Kernel>* part) {
    using Sum = SumOf<Kernel>;
    constexpr int width = 4;
    constexpr int row_length = Kernel::config.swap_ab ? Kernel::config.block_m : Kernel::config.block_n;
    constexpr int vectors = Kernel::config.block_m * Kernel::config.block_n / width;
    constexpr int threads = consumers(Kernel::config) * kWarpgroup;
    constexpr int turn = Kernel::config.cluster * threads;
    // Other blocks' memory is far, so that several loads are under way: loads of 16 vectors, as long as there are so many.
    constexpr int most = 16 / Kernel::config.cluster;
    constexpr int turns = (vectors + turn - 1) / turn;
    constexpr int together = turns < most ? turns : most;
    const int rank = static_cast<int>(ptx::cluster_ctarank());
#pragma unroll 1
    for (int first = rank * threads + thread; first < vectors; first += together * turn) {
        const auto for_each_turn = [&](auto&& visit) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int vector = first + i * turn;
                const int row = vector * width / row_length;
                const int column = vector * width % row_length;
                // A thread that reads parts must also store their sum: the parts are then there before the thread meets the others and a
                // block may end.
                if (vector < vectors && output.has(row + 1, column + 1)) visit(i, row, column);
            }
        };
        Vector<Sum, width> parts[together][Kernel::config.cluster];
        for_each_turn([&](int i, int row, int column) {
#pragma unroll
            for (int r = 0; r < Kernel::config.cluster; ++r)
                parts[i][r] = load_vector<width>(ptx::mapa(part, r) + row * part_distance(Kernel::config) + column);
        });
        for_each_turn([&](int i, int row, int column) {
            const Vector<Sum, width> sums = sum_of_parts(parts[i]);
            output.template store_to_row<width>(row, column, sums.element);
        });
    }
}

}  // namespace tmm::wgmma
