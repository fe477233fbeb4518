// Brings tiles of A and B to shared memory by the copy engine (TMA): a thread says which tiles, and no thread copies. It takes the place of
// TilePipeline (tile_pipeline.cuh), with the same layouts.
//
//   ring of `stages`:    full[s]: both tiles of stage s have landed     empty[s]: all warps have read them
//
// Warps wait for tiles, not for each other: one may multiply a tile while another has yet to read the one before. They take turns at
// bringing tiles, so that none has more to do than the others.
#pragma once

#include "tmm/copy/ring.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/ptx.cuh"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/tensor_map.h"

namespace tmm {

// One operand's matrices, where in them the first tile begins, and where the tiles go.
template <class T>
struct TmaOperand {
    const TensorMap* map;
    int outer0;
    int batch;
    SharedTiles<T> tiles;
};

// Brings the tiles of one item of work. `warps`: the number of the block's warps.
template <class T, const auto& layout_a, const auto& layout_b, int warps, class Kernel>
class TmaPipeline {
public:
    // All threads call this. barriers: two for each stage. tiles: how many there are of each operand.
    __device__ TmaPipeline(const TmaOperand<T>& a, const TmaOperand<T>& b, unsigned long long* barriers, i64 k_begin, int tiles)
        : a_(a),
          b_(b),
          full_(barriers),
          empty_(barriers + Kernel::config.stages),
          k_begin_(static_cast<int>(k_begin)),
          tiles_(tiles),
          warp_(__shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0)) {
        if (threadIdx.x == 0) {
            init_ring<Kernel::config.stages>(full_, empty_, warps);
            ptx::fence_mbarrier_init();
        }
        // Everyone knows of the barriers.
        __syncthreads();
    }

    // On return the first tile is there.
    __device__ void begin() {
        if (warp_ == 0 && ptx::elect_sync()) {
#pragma unroll 1
            for (int tile = 0; tile < Kernel::config.stages && tile < tiles_; ++tile) bring(tile, tile);
        }
        if (tiles_ > 0) wait_for_phase(full_, 0);
    }

    // Brings a tile to the stage of a tile that was multiplied before.
    __device__ void start_copy() {
        if (static_cast<unsigned>(tile_) % warps != static_cast<unsigned>(warp_)) return;
        const int tile = tile_ - kRefillBehind + Kernel::config.stages;
        if (tile < Kernel::config.stages || tile >= tiles_) return;
        const RingPlace<Kernel::config.stages> read = place_.back(kRefillBehind);
        wait_for_phase(empty_ + read.stage, read.parity);
        if (ptx::elect_sync()) bring(tile, read.stage);
    }

    // A warp calls this once it has asked for the last of a tile. On return the next tile is there, if there is one. True where that tile's
    // stage is the ring's first.
    __device__ bool next_tile() {
        ++tile_;
        const bool round = place_.advance();
        if (tile_ < tiles_) wait_for_phase(full_ + place_.stage, place_.parity);
        return round;
    }

    // A warp calls this once it has read all of the tile before. zero: the 0 of its ReadBits.
    __device__ void release_previous(unsigned zero) {
        __syncwarp();
        if (ptx::elect_sync()) ptx::mbarrier_arrive(empty_ + place_.previous + zero);
    }

private:
    // After two tiles all warps have read a stage, most likely, and nobody waits.
    static constexpr int kRefillBehind = Kernel::config.stages > 2 ? 2 : 1;

    __device__ void bring(int tile, int stage) {
        constexpr int bytes = (layout_a.outer + layout_b.outer) * Kernel::config.block_k * static_cast<int>(sizeof(T));
        unsigned long long* const landed = full_ + stage;
        ptx::mbarrier_arrive_expect_tx(landed, bytes);
        const int k = k_begin_ + tile * Kernel::config.block_k;
        ptx::cp_async_bulk_tensor_3d(a_.tiles[stage], a_.map, a_.outer0, k, a_.batch, landed);
        ptx::cp_async_bulk_tensor_3d(b_.tiles[stage], b_.map, b_.outer0, k, b_.batch, landed);
    }

    TmaOperand<T> a_;
    TmaOperand<T> b_;
    unsigned long long* full_;
    unsigned long long* empty_;
    int k_begin_;
    int tiles_;
    int warp_;
    // The tile that is multiplied, and its place in the ring.
    int tile_ = 0;
    RingPlace<Kernel::config.stages> place_;
};

}  // namespace tmm
