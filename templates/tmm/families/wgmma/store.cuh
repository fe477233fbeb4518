// A warpgroup's sums become rows of C by way of shared memory.
//
// Lane t of warp w holds these four sums of every 64 x n instruction of a warpgroup, for each 8 columns:
//
//     row 16 w + t / 4:      columns 2 (t % 4), 2 (t % 4) + 1
//     row 16 w + t / 4 + 8:  the same columns
#pragma once

#include "tmm/families/wgmma/pipeline.cuh"
#include "tmm/output/epilogue.cuh"
#include "tmm/output/output.cuh"
#include "tmm/output/partial_sums.cuh"
#include "tmm/output/unaligned_rows.cuh"
#include "tmm/ptx.cuh"
#include "tmm/tile/chunks.cuh"
#include "tmm/tile/vector.cuh"

namespace tmm::wgmma {

// The sums of a warpgroup, 64 rows at a time.
template <KernelConfig config>
struct Sums {
    float of[group_m(config) / kRows][group_n(config) / 2];
};

// The block's tile of C, as far as it exists.
template <KernelSignature signature, KernelConfig config>
struct Destination {
    static constexpr KernelSignature target = is_partial<config> ? partial_result_of(signature) : signature;
    using C = Element<target.type_c>;

    C* first;
    i64 ld;
    int rows;
    int columns;
    float alpha;
    float beta;

    __device__ Destination(const GemmArgs& args, const WorkItem& item)
        : ld(is_partial<config> ? workspace_ld(args.n) : args.ldc),
          alpha(is_partial<config> ? 1.0f : static_cast<float>(args.alpha)),
          beta(is_partial<config> ? 0.0f : static_cast<float>(args.beta)) {
        const i64 row0 = config.swap_ab ? item.right0 : item.left0;
        const i64 column0 = config.swap_ab ? item.left0 : item.right0;
        const i64 part = (static_cast<i64>(item.batch) * args.split_k + item.split) / config.cluster;
        C* const matrix = is_partial<config> ? static_cast<C*>(args.workspace) + part * args.m * ld
                                             : static_cast<C*>(args.c) + item.batch * args.stride_c;
        first = matrix + row0 * ld + column0;
        rows = static_cast<int>(args.m - row0 < 256 ? args.m - row0 : 256);
        columns = static_cast<int>(args.n - column0 < 256 ? args.n - column0 : 256);
    }

    // Do these rows and columns of the tile exist?
    __device__ bool has(int row_end, int column_end) const { return row_end <= rows && column_end <= columns; }
    __device__ C* at(int row, int column) const { return first + row * ld + column; }
};

// Calls visit with the row and column, within 64 x n, of each of a thread's sums.
template <int n, class Visit>
__device__ inline void for_each_sum(const float (&sums)[n / 2], int lane, int first_column, int columns, Visit&& visit) {
#pragma unroll
    for (int column = 0; column < columns; column += 8) {
#pragma unroll
        for (int i = 0; i < 4; ++i) visit(lane / 4 + i / 2 * 8, column + lane % 4 * 2 + i % 2, sums[(first_column + column) / 2 + i]);
    }
}

// The same for the pairs of neighbours that a thread has.
template <int n, class Visit>
__device__ inline void for_each_pair(const float (&sums)[n / 2], int lane, int first_column, int columns, Visit&& visit) {
#pragma unroll
    for (int column = 0; column < columns; column += 8) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int sum = (first_column + column) / 2 + half * 2;
            visit(lane / 4 + half * 8, column + lane % 4 * 2, Vector<float, 2>{sums[sum], sums[sum + 1]});
        }
    }
}

// Puts a warp's 16 rows of `columns` sums, from first_column on, in C's rows where place(row, column, rows on, columns on) says, each as
// made(sum, before) makes it, in type T. before: the value that stood there, where it is needed (over). type: T's type, where it has 16
// bits.
template <KernelConfig config, class T, ElementType type, int columns, bool over, class Made, class Place>
__device__ inline void put_sums(const float (&sums)[group_n(config) / 2], int lane, int first_column, Made&& made, Place&& place) {
    constexpr bool transposed = config.swap_ab != 0;
    if constexpr (sizeof(T) == 2) {
        const auto pair = [&](int sum, unsigned before) {
            const auto both = __builtin_bit_cast(Vector<T, 2>, before);
            return ptx::cvt_rn_pair<type>(made(sums[sum], both.element[0]), made(sums[sum + 1], both.element[1]));
        };
        // The matrices are 8 x 8: rows 0 to 7 and 8 to 15 of 8 columns, then of the next 8 columns where there are any.
        const int row = lane / 8 % 2 * 8;
        const auto at = [&](int column, int c) {
            return transposed ? place(column + lane % 8, row, c, 0) : place(row + lane % 8, column, 0, c);
        };
#pragma unroll
        for (int c = 0; c + 16 <= columns; c += 16) {
            const int sum = (first_column + c) / 2;
            T* const to = at(lane / 16 * 8, c);
            unsigned before[4] = {};
            if constexpr (over && transposed) ptx::ldmatrix_x4_trans(before, to);
            if constexpr (over && !transposed) ptx::ldmatrix_x4(before, to);
            ptx::stmatrix_x4<transposed>(
                to, {pair(sum, before[0]), pair(sum + 2, before[1]), pair(sum + 4, before[2]), pair(sum + 6, before[3])});
        }
        if constexpr (columns % 16 != 0) {
            constexpr int c = columns - 8;
            const int sum = (first_column + c) / 2;
            T* const to = at(0, c);
            unsigned before[4] = {};
            if constexpr (over && transposed) ptx::ldmatrix_x4_trans(before, to);
            if constexpr (over && !transposed) ptx::ldmatrix_x4(before, to);
            ptx::stmatrix_x2<transposed>(to, {pair(sum, before[0]), pair(sum + 2, before[1])});
        }
    } else if constexpr (transposed) {
        for_each_sum<group_n(config)>(sums, lane, first_column, columns, [&](int row, int column, float sum) {
            T* const to = place(column, row, 0, 0);
            *to = made(sum, over ? *to : T{});
        });
    } else {
        for_each_pair<group_n(config)>(sums, lane, first_column, columns, [&](int row, int column, Vector<float, 2> pair) {
            T* const to = place(row, column, 0, 0);
            const Vector<T, 2> before = over ? load_vector<2>(to) : Vector<T, 2>{};
            for (int i = 0; i < 2; ++i) pair.element[i] = made(pair.element[i], before.element[i]);
            store_vector(to, pair);
        });
    }
}

// The form of a sum on its way through shared memory: an element of C already, or, where C is read as well, still a float that alpha has
// not been applied to.
template <KernelSignature target, bool in_float>
struct Staged {
    using C = Element<target.type_c>;
    using Type = C;
    __device__ static float made(float sum, float alpha) { return alpha * sum; }
    template <int width>
    __device__ static void store(C* c, const Type* staged, const Vector<C, width>&, float, float) {
        store_vector_global(c, load_vector<width>(staged));
    }
};
template <KernelSignature target>
struct Staged<target, true> {
    using C = Element<target.type_c>;
    using Type = float;
    __device__ static float made(float sum, float) { return sum; }
    template <int width>
    __device__ static void store(C* c, const Type* staged, const Vector<C, width>& before, float alpha, float beta) {
        Vector<C, width> results;
#pragma unroll
        for (int i = 0; i < width; ++i) results.element[i] = from_float<C>(result_of(staged[i], before.element[i], alpha, beta));
        store_vector_global(c, results);
    }
};

// A warp turns its 16 rows of `columns` sums, from first_column on, into rows of C in shared memory, and writes those by vectors, at C's
// edges as far as they exist. With swap_ab the sums' rows are C's columns.
template <KernelSignature signature, KernelConfig config, int columns>
__device__ inline void store_columns(const Destination<signature, config>& destination, int lane, int left, int right,
                                     const float (&sums)[group_n(config) / 2], int first_column, unsigned char* staged_bytes) {
    using D = Destination<signature, config>;
    using S = Staged<D::target, D::target.reads_c>;
    using T = typename S::Type;
    constexpr int distance = staged_distance(config, signature, columns);
    constexpr int row_length = config.swap_ab ? kWarpRows : columns;
    constexpr int rows = config.swap_ab ? columns : kWarpRows;
    constexpr int aligned = D::target.align_c / static_cast<int>(sizeof(typename D::C));
    constexpr int width = aligned < row_length ? aligned : row_length;
    T* const staged = reinterpret_cast<T*>(staged_bytes);
    put_sums<config, T, D::target.type_c, columns, false>(
        sums, lane, first_column, [&](float sum, T) { return S::made(sum, destination.alpha); },
        [&](int row, int column, int rows_on, int columns_on) { return staged + (row + rows_on) * distance + column + columns_on; });
    // The warp's sums are there.
    __syncwarp();
    const int row0 = config.swap_ab ? right : left;
    const int column0 = config.swap_ab ? left : right;
    constexpr int elements = rows * row_length;
    constexpr int turn = 32 * width;
    // Reading C takes as long as memory does, so that some turns go together.
    constexpr int together = !D::target.reads_c ? 1 : width < 4 ? 8 : 16 / width;
#pragma unroll 1
    for (int first = 0; first < elements; first += together * turn) {
        const auto for_each_turn = [&](auto&& visit) {
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const int element = first + i * turn + lane * width;
                const int row = element / row_length;
                const int column = element % row_length;
                if ((elements % (together * turn) == 0 || element < elements) && destination.has(row0 + row + 1, column0 + column + width))
                    visit(i, destination.at(row0 + row, column0 + column), staged + row * distance + column);
            }
        };
        Vector<typename D::C, width> before[together] = {};
        if (D::target.reads_c && destination.beta != 0.0f)
            for_each_turn([&](int i, typename D::C* c, const T*) { before[i] = load_vector<width>(c); });
        for_each_turn([&](int i, typename D::C* c, const T* from) {
            S::template store<width>(c, from, before[i], destination.alpha, destination.beta);
        });
    }
    // Stores what C has of the last vector of each row, where C ends within that vector.
    const int columns_here = destination.columns - column0;
    if (width > 1 && columns_here < row_length && columns_here % width > 0) {
#pragma unroll 1
        for (int element = lane; element < rows * width; element += 32) {
            const int row = element / width;
            const int column = columns_here / width * width + element % width;
            if (!destination.has(row0 + row + 1, column0 + column + 1)) continue;
            typename D::C* const c = destination.at(row0 + row, column0 + column);
            Vector<typename D::C, 1> before = {};
            if (D::target.reads_c && destination.beta != 0.0f) before = load_vector<1>(c);
            S::template store<1>(c, staged + row * distance + column, before, destination.alpha, destination.beta);
        }
    }
    // The rows have been written before the next ones overwrite them.
    __syncwarp();
}

// The same where C's rows start at any element of 16 bits.
template <KernelSignature signature, KernelConfig config, int columns>
__device__ inline void store_unaligned_columns(const UnalignedRows<Destination<signature, config>>& c, int lane, float alpha,
                                               const float (&sums)[group_n(config) / 2], int first_column) {
    using C = typename Destination<signature, config>::C;
    constexpr int distance = staged_distance(config, signature, columns);
    for_each_sum<group_n(config)>(sums, lane, first_column, columns, [&](int row, int column, float sum) {
        *(config.swap_ab ? c.template at<distance>(column, row) : c.template at<distance>(row, column)) = from_float<C>(alpha * sum);
    });
    // The warp's sums are there.
    __syncwarp();
    if constexpr (config.swap_ab)
        c.template store<columns, kWarpRows, distance>(first_column, 0);
    else
        c.template store<kWarpRows, columns, distance>(0, first_column);
    // The rows have been written before the next ones overwrite them.
    __syncwarp();
}

// Calls visit with a constant of how many, and the first, of the columns that are staged together.
template <KernelSignature signature, KernelConfig config, class Visit>
__device__ inline void for_each_staged(Visit&& visit) {
    constexpr int columns = staged_columns(config, signature);
    constexpr int rest = group_n(config) % columns;
#pragma unroll
    for (int first_column = 0; first_column + columns <= group_n(config); first_column += columns)
        visit.template operator()<columns>(first_column);
    if constexpr (rest > 0) visit.template operator()<rest>(group_n(config) - rest);
}

// A warp stages some of its columns at a time, one group after the other.
template <KernelSignature signature, KernelConfig config>
__device__ inline void store_tile(const Destination<signature, config>& destination, int group_row, int group_column,
                                  const Sums<config>& sums, unsigned char* staged_bytes) {
    using D = Destination<signature, config>;
    const int thread = ptx::thread_here();
    const int warp = thread % kWarpgroup / 32;
    const int lane = thread % 32;
#pragma unroll
    for (int i = 0; i < group_m(config) / kRows; ++i) {
        const int left = group_row + i * kRows + warp * kWarpRows;
        if constexpr (sizeof(typename D::C) == 2 && !D::target.reads_c && D::target.align_c < 16) {
            const int row0 = config.swap_ab ? group_column : left;
            const int column0 = config.swap_ab ? left : group_column;
            const UnalignedRows<D> rows(destination, row0, column0, lane, reinterpret_cast<typename D::C*>(staged_bytes));
            for_each_staged<signature, config>([&]<int columns>(int first_column) {
                store_unaligned_columns<signature, config, columns>(rows, lane, destination.alpha, sums.of[i], first_column);
            });
        } else {
            for_each_staged<signature, config>([&]<int columns>(int first_column) {
                store_columns<signature, config, columns>(destination, lane, left, group_column + first_column, sums.of[i], first_column,
                                                          staged_bytes);
            });
        }
    }
}

// The blocks of a cluster hold parts of one tile's sums. Each adds up its share of the tile, in the order of the ranks, out of all
// the blocks' shared memory, and stores it. `part`: the tile in rows of C, over the tiles that have been multiplied.
template <KernelConfig config>
__device__ inline void show_part(int group_row, int group_column, const Sums<config>& sums, float* part) {
    constexpr int distance = part_distance(config);
    const int thread = ptx::thread_here();
    const int lane = thread % 32;
    const int warp = thread % kWarpgroup / 32;
#pragma unroll
    for (int i = 0; i < group_m(config) / kRows; ++i) {
        const int left = group_row + i * kRows + warp * kWarpRows;
        if constexpr (config.swap_ab) {
            for_each_sum<group_n(config)>(sums.of[i], lane, 0, group_n(config), [&](int row, int column, float sum) {
                part[(group_column + column) * distance + left + row] = sum;
            });
        } else {
            for_each_pair<group_n(config)>(sums.of[i], lane, 0, group_n(config), [&](int row, int column, Vector<float, 2> pair) {
                store_vector(part + (left + row) * distance + group_column + column, pair);
            });
        }
    }
}

template <KernelSignature signature, KernelConfig config>
__device__ inline void store_cluster_tile(const Destination<signature, config>& destination, int thread, const float* part) {
    constexpr int width = 4;
    constexpr int row_length = config.swap_ab ? config.block_m : config.block_n;
    constexpr int vectors = config.block_m * config.block_n / width;
    constexpr int threads = consumers(config) * kWarpgroup;
    constexpr int turn = config.cluster * threads;
    // Other blocks' memory is far, so that several loads are under way: loads of 16 vectors, as long as there are so many.
    constexpr int most = 16 / config.cluster;
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
                if (vector < vectors && destination.has(row + 1, column + 1)) visit(i, row, column);
            }
        };
        Vector<float, width> parts[together][config.cluster];
        for_each_turn([&](int i, int row, int column) {
#pragma unroll
            for (int r = 0; r < config.cluster; ++r)
                parts[i][r] = load_vector<width>(ptx::mapa(part, r) + row * part_distance(config) + column);
        });
        for_each_turn([&](int i, int row, int column) {
            const Vector<float, width> sums = sum_of_parts(parts[i]);
            const int left = destination.columns - column;
            store_results<Destination<signature, config>::target, width>(destination.at(row, column), sums.element, destination.alpha,
                                                                         destination.beta, left < width ? left : width);
        });
    }
}

}  // namespace tmm::wgmma
