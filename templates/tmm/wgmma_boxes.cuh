// What becomes of a warpgroup's sums where C's rows are aligned: boxes of C that the copy engine takes out of shared memory, while the
// warpgroup goes on, and cuts off where C ends. It cuts whole chunks of 16 bytes only: of a chunk in which C's rows end the warp writes the
// elements itself.
//
// Each warp fills two boxes in turn. Of each 8 rows of 128 bytes of a box, 1024 bytes, chunk c of 16 bytes of row r stands at c ^ r; rows
// of 64 and 32 bytes, of which 2 and 4 take the place of one, have as many chunks less to choose from, rows of 16 bytes none. So 8 rows of
// a chunk meet in no bank.
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

    // Boxes stand behind the tiles, and each must begin where its swizzle does.
    static_assert(pipeline_bytes(config, signature) % 1024 == 0);

public:
    // boxes: the warp's two; warp: its number in its warpgroup.
    __device__ BoxStore(const WgmmaArgs& args, unsigned char* boxes, int warp)
        : args_(args), box_(boxes), other_(boxes + box_bytes(config, signature)), first_row_(warp * kWarpRows) {}

    // The block's next tile; by all threads of the warpgroup.
    __device__ void store(const WorkItem& item, int group_row, int group_column, const Sums<config>& sums) {
        const auto alpha = static_cast<float>(args_.alpha);
        const int lane = ptx::thread_here() % 32;
        const int whole = static_cast<int>(whole_chunks(args_.n, signature.type_c));
#pragma unroll
        for (int i = 0; i < group_m(config) / kRows; ++i) {
#pragma unroll
            for (int first_column = 0; first_column < group_n(config); first_column += kColumns) {
                // What was in this box has been read.
                if (lane == 0) ptx::cp_async_bulk_wait_group_read<kBoxes - 1>();
                __syncwarp();
                put_sums<config, C, signature.type_c, kColumns>(
                    sums.of[i], lane, first_column, [&](float sum) { return alpha * sum; },
                    [&](int row, int column) { return place(row, column); });
                ptx::fence_proxy_async();
                // The box is full.
                __syncwarp();
                const int left_slab = static_cast<int>(item.left0) + group_row + i * kRows;
                const int in_right_slab = first_column % row_elements(P::right);
                const int right_slab = static_cast<int>(item.right0) + group_column + first_column - in_right_slab;
                const int left = P::left_slab(args_, left_slab) + first_row_;
                const int right = P::right_slab(args_, right_slab) + in_right_slab;
                const int x = config.swap_ab ? left : right;
                const int y = config.swap_ab ? right : left;
                const bool exists = (config.swap_ab ? left_slab : right_slab) < args_.n;
                if (lane == 0) {
                    if (exists && x < whole) ptx::cp_async_bulk_tensor_3d_store(&args_.result, x, y, item.batch, box_);
                    ptx::cp_async_bulk_commit_group();
                }
                if (exists && x <= whole && whole < x + kRowLength) store_ends(item, lane, x, y, whole - x);
                unsigned char* const filled = box_;
                box_ = other_;
                other_ = filled;
            }
        }
    }

    // Before the thread ends, and the shared memory with its block.
    __device__ void finish() const {
        ptx::cp_async_bulk_wait_group_read<0>();
    }

private:
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

    // Where an element of the box stands, in whole chunks of 16 bytes or parts of one.
    __device__ C* place(int row, int column) const {
        constexpr int row_bytes = kRowLength * static_cast<int>(sizeof(C));
        const int offset = row * row_bytes + column * static_cast<int>(sizeof(C));
        return reinterpret_cast<C*>(box_ + (offset ^ (offset >> 7 & (row_bytes / 16 - 1)) << 4));
    }

    const WgmmaArgs& args_;
    // The one to be filled next.
    unsigned char* box_;
    unsigned char* other_;
    // The first of the warp's rows, of each 64 that the warpgroup has.
    int first_row_;
};

}  // namespace tmm::wgmma
