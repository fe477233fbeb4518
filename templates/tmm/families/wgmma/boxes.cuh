// Where C's rows are aligned, a warpgroup's sums become boxes of C, which the copy engine takes out of shared memory while the warpgroup
// goes on, and cuts off where C ends. It cuts off whole chunks of 16 bytes only: where C's rows end within a chunk, the warp writes the
// elements of that chunk itself.
//
// Each warp fills some boxes in turn, several at once where they find room:
//
//     copy engine:                                      box 0, box 1 -> C               box 2, box 3 -> C
//     warp:         multiplies …   box 0 = …, box 1 = …   box 2 = …, box 3 = …   multiplies …
//
// Where C is read as well, its old values come into the boxes first, while the tile is multiplied, and the results take their place; those
// of a residual do where C is not read:
//
//     copy engine:  C -> box 0, C -> box 1                     box 0 -> C, box 1 -> C
//     warp:         multiplies …           box 0 = …, box 1 = …
//
// A tile's columns leave in boxes as wide as the copy engine swizzles, and the rest in a narrower one:
//
//     176 columns of 16 bits:   | 64 | 64 | 48 |
#pragma once

#include "tmm/copy/ring.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/families/wgmma/box_layout.cuh"
#include "tmm/families/wgmma/store.cuh"
#include "tmm/ptx.cuh"

namespace tmm::wgmma {

template <class Kernel>
class BoxStore {
    using C = ElementOfC<Kernel>;
    using Sum = SumOf<Kernel>;
    using Scalar = ScalarOf<Kernel>;
    using P = Pipeline<Kernel>;
    // The signature that results have.
    struct Target : Kernel {
        static constexpr KernelSignature signature = signature_of_boxes(Kernel::config, Kernel::signature);
    };
    // Columns of sums of a box, and of the last box of a row of boxes if it has fewer.
    static constexpr int kColumns = sum_columns_of_box(Kernel::config, Kernel::signature);
    static constexpr int kRest = sum_columns_of_rest(Kernel::config, Kernel::signature);
    static constexpr int kBytes = box_bytes(Kernel::signature, kColumns);
    static constexpr int kBoxes = boxes_of_warp(Kernel::config, Kernel::signature);
    static constexpr int kOfTile = boxes_of_tile(Kernel::config, Kernel::signature);

    // Boxes stand behind the tiles, and each must begin where its swizzle does.
    static_assert(pipeline_bytes(Kernel::config, Kernel::signature) % 1024 == 0);
    static_assert(barriers(Kernel::config, Kernel::signature) * static_cast<i64>(sizeof(unsigned long long)) <= kBytesForBarriers);

public:
    // One thread calls this before any other uses the barriers.
    __device__ static void init(const WgmmaArgs& args, unsigned long long* barriers) {
        ptx::prefetch_tensormap(&args.result);
        if constexpr (kRest > 0) ptx::prefetch_tensormap(&args.result_rest);
        if constexpr (box_brings_values(Kernel::signature)) {
            ptx::prefetch_tensormap(&args.before);
            if constexpr (kRest > 0) ptx::prefetch_tensormap(&args.before_rest);
            for (int box = 0; box < warps_of_consumers(Kernel::config) * kBoxes; ++box) ptx::mbarrier_init(barriers + box, 1);
        }
    }

    // boxes: the warp's boxes; barriers: those of all warps; warp: the warp's number among the consumers.
    __device__ BoxStore(const WgmmaArgs& args, unsigned char* boxes, unsigned long long* barriers, int warp)
        : args_(args),
          boxes_{boxes},
          landed_(barriers + warp * kBoxes),
          first_row_(warp % (kWarpgroup / 32) * kWarpRows),
          columns_(static_cast<int>(columns_of_c<Kernel>(args))),
          scalars_(scalars_of(args)) {}

    // Brings the old values of C where the block's next tile will stand, as many as the boxes take, and the rest to the L2 cache. All
    // threads of the warpgroup call this before they multiply.
    __device__ void fetch(const WorkItem& item, int group_row, int group_column) {
        if (!brings_values()) return;
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

    // Stores the block's next tile. All threads of the warpgroup call this.
    __device__ void store(const WorkItem& item, int group_row, int group_column, const ResultSums<Kernel>& sums) {
        const int lane = ptx::thread_here() % 32;
        // A tile then begins with slot 0; since the code says so, all slots are constants.
        if constexpr (!box_brings_values(Kernel::signature) && kOfTile % kBoxes == 0) next_ = {};
#pragma unroll
        for (int first = 0; first < kOfTile; first += kAtOnce) {
            const int end = first + kAtOnce < kOfTile ? first + kAtOnce : kOfTile;
            wait_for_boxes(lane);
            const int first_slot = next_.stage;
#pragma unroll
            for (int box = first; box < end; ++box) {
                fill_box(item, group_row, group_column, box, lane, sums.of[box / kOfRow]);
                next_.advance();
            }
            ptx::fence_proxy_async();
            // The boxes are full.
            __syncwarp();
            if (lane == 0) {
#pragma unroll
                for (int box = first; box < end; ++box)
                    send_box(item, place_in_c(item, group_row, group_column, box), box, slot_on(first_slot, box - first));
                ptx::cp_async_bulk_commit_group();
            }
            if (whole() != columns_) {
#pragma unroll
                for (int box = first; box < end; ++box)
                    store_ends_of_box(item, place_in_c(item, group_row, group_column, box), box, lane, slot_on(first_slot, box - first));
            }
            if constexpr (box_brings_values(Kernel::signature)) fetch_ahead(item, group_row, group_column, first, lane);
        }
    }

    // A thread calls this before it ends, since the shared memory ends with its block.
    __device__ void finish() const {
        ptx::cp_async_bulk_wait_group_read<0>();
    }

private:
    // What was finished in registers was multiplied by alpha there.
    __device__ static OutputScalars<Kernel> scalars_of(const WgmmaArgs& args) {
        if constexpr (finishes_in_registers(Kernel::config, Kernel::signature))
            return {1, 0};
        else
            return output_scalars<Kernel>(args);
    }

    static constexpr int kOfRow = boxes_of_row(Kernel::config, Kernel::signature);
    static constexpr int kAtOnce = boxes_at_once(Kernel::config, Kernel::signature);

    // The slot of the box that is filled so many boxes after the one in `slot`.
    __device__ static int slot_on(int slot, int boxes) {
        return slot + boxes < kBoxes ? slot + boxes : slot + boxes - kBoxes;
    }

    // The place in C of a box's first element, and whether C has any of the box's columns.
    struct PlaceInC {
        int x;
        int y;
        bool exists;
    };

    // Waits until the boxes that are filled next have been read, or until C's old values have landed in them.
    __device__ void wait_for_boxes(int lane) const {
        if (brings_values()) {
            wait_for_phase(landed_ + next_.stage, next_.parity);
        } else {
            constexpr int groups_under_way = kBoxes / kAtOnce - 1;
            if (lane == 0) ptx::cp_async_bulk_wait_group_read<groups_under_way>();
            __syncwarp();
        }
    }

    __device__ void fill_box(const WorkItem& item, int group_row, int group_column, int box, int lane,
                             const Sum (&sums)[result_n(Kernel::config, Kernel::signature) / 2]) const {
        const auto result = [&](int row, int column, Sum sum, C before, Scalar alpha) {
            const PlaceInC to = place_in_c(item, group_row, group_column, box);
            const i64 row_of_c = within<Target, i64>(to.y + row, rows_of_c<Kernel>(args_));
            const i64 column_of_c = within<Target, i64>(to.x + column, columns_);
            const OperandsOf<Target> operands = operands_of<Target>(args_);
            if constexpr (box_brings_residual(Kernel::signature))
                return Results<Target>::result_with(operands, alpha, row_of_c, column_of_c, item.batch, sum, before);
            else
                return Results<Target>::result(operands, alpha, scalars_.beta, row_of_c, column_of_c, item.batch, sum, before);
        };
        if (is_rest(box))
            put_results<kRest>(item, box, lane, sums, result);
        else
            put_results<kColumns>(item, box, lane, sums, result);
    }
    // result(row, column, sum, before, alpha): a sum's result; rows and columns are counted from the box's first ones.
    template <int columns, class Result>
    __device__ void put_results(const WorkItem& item, int box, int lane, const Sum (&sums)[result_n(Kernel::config, Kernel::signature) / 2],
                                Result&& result) const {
        if constexpr (columns > 0) {
            const auto put = [&](auto&& made) {
                put_sums<Kernel, C, Kernel::signature.type_c, columns, box_brings_values(Kernel::signature)>(
                    sums, lane, box % kOfRow * kColumns, made, [&](int row, int column, int rows_on, int columns_on) {
                        return boxes_.template place<box_columns(Kernel::config, columns)>(next_.stage, row, column, rows_on, columns_on);
                    });
            };
            // Where nothing was multiplied, sums that the first product would have replaced are not set.
            if (first_product_replaces(Kernel::config, Kernel::signature) && item.tiles == 0)
                put([&](int row, int column, Sum, C before) { return result(row, column, 0, before, 1); });
            else if (scalars_.alpha == 1)
                put([&](int row, int column, Sum sum, C before) { return result(row, column, sum, before, 1); });
            else
                put([&](int row, int column, Sum sum, C before) { return result(row, column, sum, before, scalars_.alpha); });
        }
    }

    __device__ void send_box(const WorkItem& item, const PlaceInC& to, int box, int slot) const {
        if (to.exists && to.x < whole())
            ptx::cp_async_bulk_tensor_3d_store(is_rest(box) ? &args_.result_rest : &args_.result, to.x, to.y, item.batch, boxes_.of(slot));
    }
    __device__ void store_ends_of_box(const WorkItem& item, const PlaceInC& to, int box, int lane, int slot) const {
        const int row_length = box_columns(Kernel::config, is_rest(box) ? kRest : kColumns);
        if (!to.exists || to.x > whole() || whole() >= to.x + row_length) return;
        if (is_rest(box))
            store_ends<kRest>(item, lane, to.x, to.y, whole() - to.x, slot);
        else
            store_ends<kColumns>(item, lane, to.x, to.y, whole() - to.x, slot);
    }

    // Where C is read, its old values for a later box come into the box before this one, which has left or will soon have left.
    __device__ void fetch_ahead(const WorkItem& item, int group_row, int group_column, int box, int lane) const {
        const int ahead = box - 1 + kBoxes;
        if (box > 0 && ahead < kOfTile && brings_values() && lane == 0) {
            ptx::cp_async_bulk_wait_group_read<1>();
            fetch_box(item, ahead, place_in_c(item, group_row, group_column, ahead), (next_.stage + kBoxes - 2) % kBoxes);
        }
    }

    __device__ PlaceInC place_in_c(const WorkItem& item, int group_row, int group_column, int box) const {
        const int first_column = box % kOfRow * kColumns;
        const int left_slab = item.left0 + group_row + box / kOfRow * kRows;
        const int in_right_slab = first_column % row_elements(P::right);
        const int right_slab = item.right0 + group_column + first_column - in_right_slab;
        const int left = P::left_slab(args_, left_slab) + first_row_;
        const int right = P::right_slab(args_, right_slab) + in_right_slab;
        return {.x = Kernel::config.swap_ab ? left : right,
                .y = Kernel::config.swap_ab ? right : left,
                .exists = (Kernel::config.swap_ab ? left_slab : right_slab) < columns_};
    }

    // How many columns the copy engine stores.
    __device__ int whole() const {
        return static_cast<int>(whole_chunks(columns_, Kernel::signature.type_c));
    }
    // With beta = 0 C is never read.
    __device__ bool brings_values() const {
        return box_brings_residual(Kernel::signature) || Results<Target>{.scalars = scalars_, .origin = {}}.reads_c();
    }
    __device__ static bool is_rest(int box) {
        return kRest > 0 && box % kOfRow == kOfRow - 1;
    }
    __device__ const TensorMap* map_before(int box) const {
        return is_rest(box) ? &args_.before_rest : &args_.before;
    }
    __device__ void fetch_box(const WorkItem& item, int box, const PlaceInC& from, int slot) const {
        ptx::mbarrier_arrive_expect_tx(landed_ + slot, is_rest(box) ? box_bytes(Kernel::signature, kRest) : kBytes);
        ptx::cp_async_bulk_tensor_3d(boxes_.of(slot), map_before(box), from.x, from.y, item.batch, landed_ + slot);
    }

    // Stores the box's columns from `first` on that C has, fewer than a chunk; as many lanes store each row as a chunk has elements. This
    // code stands in the kernel once for each box of a tile, so that it must be short.
    template <int columns>
    __device__ void store_ends(const WorkItem& item, int lane, int x, int y, int first, int slot) const {
        constexpr int lanes_of_row = 16 / static_cast<int>(sizeof(C));
        const int column = first + lane % lanes_of_row;
        if (x + column >= columns_) return;
        const auto output = output_to_c<Kernel>(args_, scalars_, item.batch);
        C* const c = output.at(0, x) + column;
#pragma unroll 1
        for (int row = lane / lanes_of_row; row < box_rows(Kernel::config, columns) && y + row < rows_of_c<Kernel>(args_);
             row += 32 / lanes_of_row)
            store_vector(c + (y + row) * args_.ldc,
                         load_vector<1>(boxes_.template place<box_columns(Kernel::config, columns)>(slot, row, column)));
    }

    const WgmmaArgs& args_;
    Boxes<C, kBytes> boxes_;
    // A barrier for each box: C's old values have landed in it.
    unsigned long long* landed_;
    // The box to be filled next.
    RingPlace<kBoxes> next_;
    // The warp's first row within each 64 rows of the warpgroup.
    int first_row_;
    // Columns of C.
    int columns_;
    OutputScalars<Kernel> scalars_;
};

}  // namespace tmm::wgmma
