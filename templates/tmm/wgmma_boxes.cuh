// What becomes of a warpgroup's sums where C's rows are aligned: boxes of C that the copy engine takes out of shared memory, while the
// warpgroup goes on, and cuts off where C ends. It cuts whole chunks of 16 bytes only: of a chunk in which C's rows end the warp writes the
// elements itself.
//
// Each warp fills some boxes in turn. Where C is read as well, what it holds comes in them first, while the tile is multiplied, and what
// becomes of it and the sums takes its place:
//
//     copy engine:  C -> box 0, C -> box 1                     box 0 -> C, box 1 -> C
//     warp:         multiplies …           box 0 = …, box 1 = …
//
// A tile's columns leave in boxes as wide as the copy engine swizzles, and the rest in a narrower one:
//
//     176 columns of 16 bits:   | 64 | 64 | 48 |
//
// Of each 8 rows of 128 bytes of a box, 1024 bytes, chunk c of 16 bytes of row r stands at c ^ r; rows of 64 and 32 bytes, of which 2 and
// 4 take the place of one, have as many chunks less to choose from, others none: of 16, 48, 80 and 112 bytes 8 rows of a chunk meet in no
// bank as they lie, of 96 two and two.
#pragma once

#include "tmm/ptx.cuh"
#include "tmm/vector.cuh"
#include "tmm/wgmma_store.cuh"

namespace tmm::wgmma {

template <KernelSignature signature, KernelConfig config>
class BoxStore {
    using C = Element<signature.type_c>;
    using P = Pipeline<signature, config>;
    // Columns of sums of a box, and of the last one of a row of boxes if they are fewer there.
    static constexpr int kColumns = sum_columns_of_box(config, signature);
    static constexpr int kRest = sum_columns_of_rest(config, signature);
    static constexpr int kBytes = box_bytes(signature, kColumns);
    static constexpr int kBoxes = boxes_of_warp(config, signature);
    static constexpr int kOfTile = boxes_of_tile(config, signature);

    // Boxes stand behind the tiles, and each must begin where its swizzle does.
    static_assert(pipeline_bytes(config, signature) % 1024 == 0);
    static_assert(barriers(config, signature) * static_cast<i64>(sizeof(unsigned long long)) <= kBytesForBarriers);

public:
    // By one thread, before any other uses the barriers.
    __device__ static void init(const WgmmaArgs& args, unsigned long long* barriers) {
        ptx::prefetch_tensormap(&args.result);
        if constexpr (kRest > 0) ptx::prefetch_tensormap(&args.result_rest);
        if constexpr (signature.reads_c) {
            ptx::prefetch_tensormap(&args.before);
            if constexpr (kRest > 0) ptx::prefetch_tensormap(&args.before_rest);
            for (int box = 0; box < warps_of_consumers(config) * kBoxes; ++box) ptx::mbarrier_init(barriers + box, 1);
        }
    }

    // boxes: the warp's; barriers: of all warps; warp: its number among the consumers.
    __device__ BoxStore(const WgmmaArgs& args, unsigned char* boxes, unsigned long long* barriers, int warp)
        : args_(args), boxes_(boxes), landed_(barriers + warp * kBoxes), first_row_(warp % (kWarpgroup / 32) * kWarpRows) {}

    // Brings what C holds where the block's next tile will stand, as much as the boxes take, and the rest to the L2 cache; by all threads
    // of the warpgroup, before they multiply.
    __device__ void fetch(const WorkItem& item, int group_row, int group_column) {
        if (!reads_c()) return;
        // All lanes have done with the boxes of the tile before.
        __syncwarp();
        if (ptx::thread_here() % 32 != 0) return;
        ptx::cp_async_bulk_wait_group_read<0>();
        RingPlace<kBoxes> place = next_;
        for (int box = 0; box < kOfTile; ++box) {
            const PlaceInC from = place_in_c(item, group_row, group_column, box);
            if (box < kBoxes)
                fetch_box(item, box, from, place.stage);
            else
                ptx::cp_async_bulk_prefetch_tensor_3d(map_before(box), from.x, from.y, item.batch);
            place.advance();
        }
    }

    // The block's next tile; by all threads of the warpgroup.
    __device__ void store(const WorkItem& item, int group_row, int group_column, const Sums<config>& sums) {
#pragma unroll
        for (int row = 0; row < group_m(config) / kRows; ++row) {
#pragma unroll
            for (int i = 0; i < group_n(config) / kColumns; ++i)
                store_box<kColumns>(item, group_row, group_column, row * kOfRow + i, sums.of[row]);
            if constexpr (kRest > 0) store_box<kRest>(item, group_row, group_column, row * kOfRow + kOfRow - 1, sums.of[row]);
        }
    }

    // Before the thread ends, and the shared memory with its block.
    __device__ void finish() const {
        ptx::cp_async_bulk_wait_group_read<0>();
    }

private:
    static constexpr int kOfRow = boxes_of_row(config, signature);

    // Box `box` of the tile, with so many columns of the sums.
    template <int columns>
    __device__ void store_box(const WorkItem& item, int group_row, int group_column, int box, const float (&sums)[group_n(config) / 2]) {
        constexpr int row_length = box_columns(config, columns);
        const auto alpha = static_cast<float>(args_.alpha);
        const auto beta = static_cast<float>(args_.beta);
        const int lane = ptx::thread_here() % 32;
        const int whole = static_cast<int>(whole_chunks(args_.n, signature.type_c));
        if (reads_c()) {
            while (!ptx::mbarrier_try_wait_parity(landed_ + next_.stage, next_.parity)) {
            }
        } else {
            // What was in this box has been read.
            if (lane == 0) ptx::cp_async_bulk_wait_group_read<kBoxes - 1>();
            __syncwarp();
        }
        put_sums<config, C, signature.type_c, columns, signature.reads_c>(
            sums, lane, box % kOfRow * kColumns,
            [&](float sum, C before) { return signature.reads_c ? result_of(sum, before, alpha, beta) : alpha * sum; },
            [&](int row, int column) { return place<row_length>(row, column); });
        ptx::fence_proxy_async();
        // The box is full.
        __syncwarp();
        const PlaceInC to = place_in_c(item, group_row, group_column, box);
        if (lane == 0) {
            if (to.exists && to.x < whole)
                ptx::cp_async_bulk_tensor_3d_store(columns == kColumns ? &args_.result : &args_.result_rest, to.x, to.y, item.batch,
                                                   box_of(next_.stage));
            ptx::cp_async_bulk_commit_group();
        }
        if (to.exists && to.x <= whole && whole < to.x + row_length) store_ends<columns>(item, lane, to.x, to.y, whole - to.x);
        next_.advance();
        // The box before this one has left, or will soon have.
        const int ahead = box - 1 + kBoxes;
        if (box > 0 && ahead < kOfTile && reads_c() && lane == 0) {
            ptx::cp_async_bulk_wait_group_read<1>();
            fetch_box(item, ahead, place_in_c(item, group_row, group_column, ahead), (next_.stage + kBoxes - 2) % kBoxes);
        }
    }

    // Where a box's first element stands, and whether C has any of its columns.
    struct PlaceInC {
        int x;
        int y;
        bool exists;
    };
    __device__ PlaceInC place_in_c(const WorkItem& item, int group_row, int group_column, int box) const {
        const int first_column = box % kOfRow * kColumns;
        const int left_slab = static_cast<int>(item.left0) + group_row + box / kOfRow * kRows;
        const int in_right_slab = first_column % row_elements(P::right);
        const int right_slab = static_cast<int>(item.right0) + group_column + first_column - in_right_slab;
        const int left = P::left_slab(args_, left_slab) + first_row_;
        const int right = P::right_slab(args_, right_slab) + in_right_slab;
        return {.x = config.swap_ab ? left : right,
                .y = config.swap_ab ? right : left,
                .exists = (config.swap_ab ? left_slab : right_slab) < args_.n};
    }

    // beta = 0 never reads C.
    __device__ bool reads_c() const {
        return signature.reads_c && args_.beta != 0;
    }
    __device__ static bool is_rest(int box) {
        return kRest > 0 && box % kOfRow == kOfRow - 1;
    }
    __device__ const TensorMap* map_before(int box) const {
        return is_rest(box) ? &args_.before_rest : &args_.before;
    }
    __device__ void fetch_box(const WorkItem& item, int box, const PlaceInC& from, int slot) const {
        ptx::mbarrier_arrive_expect_tx(landed_ + slot, is_rest(box) ? box_bytes(signature, kRest) : kBytes);
        ptx::cp_async_bulk_tensor_3d(box_of(slot), map_before(box), from.x, from.y, item.batch, landed_ + slot);
    }

    // The box's columns from `first` on that C has, fewer than a chunk: a row a lane. It stands in the kernel once for each box of a tile,
    // so that it must be short.
    template <int columns>
    __device__ void store_ends(const WorkItem& item, int lane, int x, int y, int first) const {
        const int end = static_cast<int>(args_.n) - x;
        C* const c = static_cast<C*>(args_.c) + item.batch * args_.stride_c + x;
#pragma unroll 1
        for (int row = lane; row < box_rows(config, columns) && y + row < args_.m; row += 32) {
            C* const to = c + (y + row) * args_.ldc;
#pragma unroll 1
            for (int column = first; column < end; ++column)
                store_vector(to + column, load_vector<1>(place<box_columns(config, columns)>(row, column)));
        }
    }

    __device__ unsigned char* box_of(int slot) const {
        return boxes_ + slot * kBytes;
    }
    // Where an element of the next box stands, in whole chunks of 16 bytes or parts of one.
    template <int row_length>
    __device__ C* place(int row, int column) const {
        constexpr int row_bytes = row_length * static_cast<int>(sizeof(C));
        constexpr int chunks_that_change = is_power_of_two(row_bytes) ? row_bytes / 16 - 1 : 0;
        const int offset = row * row_bytes + column * static_cast<int>(sizeof(C));
        return reinterpret_cast<C*>(box_of(next_.stage) + (offset ^ (offset >> 7 & chunks_that_change) << 4));
    }

    const WgmmaArgs& args_;
    unsigned char* boxes_;
    // One for each box: what C holds has landed in it.
    unsigned long long* landed_;
    // The box to be filled next.
    RingPlace<kBoxes> next_;
    // The first of the warp's rows, of each 64 that the warpgroup has.
    int first_row_;
};

}  // namespace tmm::wgmma
