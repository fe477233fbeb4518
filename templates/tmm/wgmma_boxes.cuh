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
// Of each 8 rows of 128 bytes of a box, 1024 bytes, chunk c of 16 bytes of row r stands at c ^ r; rows of 64 and 32 bytes, of which 2 and
// 4 take the place of one, have as many chunks less to choose from, rows of 16 bytes none. So 8 rows of a chunk meet in no bank.
#pragma once

#include "tmm/ptx.cuh"
#include "tmm/vector.cuh"
#include "tmm/wgmma_store.cuh"

namespace tmm::wgmma {

template <KernelSignature signature, KernelConfig config>
class BoxStore {
    using C = Element<signature.type_c>;
    using P = Pipeline<signature, config>;
    static constexpr int kRowLength = box_columns(config, signature);
    static constexpr int kColumns = sum_columns_of_box(config, signature);
    static constexpr int kBytes = box_bytes(config, signature);
    static constexpr int kBoxes = boxes_of_warp(config, signature);
    static constexpr int kOfTile = boxes_of_tile(config, signature);

    // Boxes stand behind the tiles, and each must begin where its swizzle does.
    static_assert(pipeline_bytes(config, signature) % 1024 == 0);

public:
    // By one thread, before any other uses the barriers.
    __device__ static void init(const WgmmaArgs& args, unsigned long long* barriers) {
        ptx::prefetch_tensormap(&args.result);
        if constexpr (signature.reads_c) {
            ptx::prefetch_tensormap(&args.before);
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
                fetch_box(item, from, place.stage);
            else
                ptx::cp_async_bulk_prefetch_tensor_3d(&args_.before, from.x, from.y, item.batch);
            place.advance();
        }
    }

    // The block's next tile; by all threads of the warpgroup.
    __device__ void store(const WorkItem& item, int group_row, int group_column, const Sums<config>& sums) {
        const auto alpha = static_cast<float>(args_.alpha);
        const auto beta = static_cast<float>(args_.beta);
        const int lane = ptx::thread_here() % 32;
        const int whole = static_cast<int>(whole_chunks(args_.n, signature.type_c));
#pragma unroll
        for (int box = 0; box < kOfTile; ++box) {
            if (reads_c()) {
                while (!ptx::mbarrier_try_wait_parity(landed_ + next_.stage, next_.parity)) {
                }
            } else {
                // What was in this box has been read.
                if (lane == 0) ptx::cp_async_bulk_wait_group_read<kBoxes - 1>();
                __syncwarp();
            }
            put_sums<config, C, signature.type_c, kColumns, signature.reads_c>(
                sums.of[box / kOfRow], lane, box % kOfRow * kColumns,
                [&](float sum, C before) { return signature.reads_c ? result_of(sum, before, alpha, beta) : alpha * sum; },
                [&](int row, int column) { return place(row, column); });
            ptx::fence_proxy_async();
            // The box is full.
            __syncwarp();
            const PlaceInC to = place_in_c(item, group_row, group_column, box);
            if (lane == 0) {
                if (to.exists && to.x < whole)
                    ptx::cp_async_bulk_tensor_3d_store(&args_.result, to.x, to.y, item.batch, box_of(next_.stage));
                ptx::cp_async_bulk_commit_group();
            }
            if (to.exists && to.x <= whole && whole < to.x + kRowLength) store_ends(item, lane, to.x, to.y, whole - to.x);
            next_.advance();
            // The box before this one has left, or will soon have.
            const int ahead = box - 1 + kBoxes;
            if (box > 0 && ahead < kOfTile && reads_c() && lane == 0) {
                ptx::cp_async_bulk_wait_group_read<1>();
                fetch_box(item, place_in_c(item, group_row, group_column, ahead), (next_.stage + kBoxes - 2) % kBoxes);
            }
        }
    }

    // Before the thread ends, and the shared memory with its block.
    __device__ void finish() const {
        ptx::cp_async_bulk_wait_group_read<0>();
    }

private:
    static constexpr int kOfRow = group_n(config) / kColumns;

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
    __device__ void fetch_box(const WorkItem& item, const PlaceInC& from, int slot) const {
        ptx::mbarrier_arrive_expect_tx(landed_ + slot, kBytes);
        ptx::cp_async_bulk_tensor_3d(box_of(slot), &args_.before, from.x, from.y, item.batch, landed_ + slot);
    }

    // The box's columns from `first` on that C has, fewer than a chunk: a row a lane. It stands in the kernel once for each box of a tile,
    // so that it must be short.
    __device__ void store_ends(const WorkItem& item, int lane, int x, int y, int first) const {
        const int end = static_cast<int>(args_.n) - x;
        C* const c = static_cast<C*>(args_.c) + item.batch * args_.stride_c + x;
#pragma unroll 1
        for (int row = lane; row < box_rows(config, signature) && y + row < args_.m; row += 32) {
            C* const to = c + (y + row) * args_.ldc;
#pragma unroll 1
            for (int column = first; column < end; ++column) store_vector(to + column, load_vector<1>(place(row, column)));
        }
    }

    __device__ unsigned char* box_of(int slot) const {
        return boxes_ + slot * kBytes;
    }
    // Where an element of the next box stands, in whole chunks of 16 bytes or parts of one.
    __device__ C* place(int row, int column) const {
        constexpr int row_bytes = kRowLength * static_cast<int>(sizeof(C));
        const int offset = row * row_bytes + column * static_cast<int>(sizeof(C));
        return reinterpret_cast<C*>(box_of(next_.stage) + (offset ^ (offset >> 7 & (row_bytes / 16 - 1)) << 4));
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
