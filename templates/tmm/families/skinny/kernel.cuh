// The skinny family: few rows times a matrix of many columns, where the rows of both run along K. Each element of the many columns is
// multiplied with every row, so that reading them and multiplying them take about as long; the copy engine (TMA) reads them while the
// threads multiply.
//
//   a stage of the ring in shared memory, as in the matrices:            a warp before it: eight lanes share a line of 32 k, the others
//                                                                        share rows and columns (here 1 x 4 times 8 lanes):
//             k ->                    block_k
//           +------------------------------+                                        columns of many ->
//     few   | row 0                        |                                     | 0..7 | 8..15 | 16..23 | 24..31 |
//           | …                    block_m |                             rows    |      |       |        |        |
//           +------------------------------+                             of few  |      |       |        |        |
//     many  | column 0                     |                                     +------+-------+--------+--------+
//           | …                    block_n |                                     thread_m x thread_n sums in each lane, of
//           +------------------------------+                                     the k of its vectors alone
//
// A lane reads 4 k at once; eight neighbours read 128 bytes of one line, which meet in no bank, so that lines need neither padding nor a
// swizzle. Warps share the block's columns, and slice_k of them each stage's k. What the lanes and the slices have summed is added up at
// the end.
//
//   ring of `stages`:    full[s]: stage s has landed     empty[s]: all warps have read it
//
// One thread brings tiles: first to all stages, then to each that all warps have read (refill_behind).
#pragma once

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/ring.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/families/skinny/rules.h"
#include "tmm/output/few_by_many.cuh"
#include "tmm/ptx.cuh"

namespace tmm::skinny {

// The place of a thread's sums in the block's tile, and of its k in a line.
struct ThreadPlace {
    int row0;
    int column0;
    int k0;
};

template <class Kernel>
__device__ inline ThreadPlace thread_place() {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int group = lane / kLanesAlongK;
    const int lane_n = group % lanes_n(Kernel::config);
    return {.row0 = group / lanes_n(Kernel::config) * Kernel::config.thread_m,
            .column0 = (warp % warps_n(Kernel::config) * lanes_n(Kernel::config) + lane_n) * Kernel::config.thread_n,
            .k0 = warp / warps_n(Kernel::config) * slice_depth(Kernel::config) + lane % kLanesAlongK * kVector};
}

// The ring of stages, which one thread fills and all warps read. Tiles are counted from the part's first.
template <class Kernel>
class Ring {
public:
    __device__ Ring(Real* tiles, unsigned long long* barriers) : tiles_(tiles), full_(barriers), empty_(barriers + Kernel::config.stages) {}

    // One thread calls this; the caller sees to it that all threads know of the barriers.
    __device__ void init() const {
        init_ring<Kernel::config.stages>(full_, empty_, warps(Kernel::config));
        ptx::fence_mbarrier_init();
    }

    // Brings a tile to its stage, once all warps have read what was there. One thread calls this.
    __device__ void bring(const SkinnyArgs& args, const FewByMany& place, int tile) const {
        const int stage = tile % Kernel::config.stages;
        if (tile >= Kernel::config.stages) wait(empty_ + stage, tile / Kernel::config.stages - 1);
        ptx::mbarrier_arrive_expect_tx(full_ + stage, stage_bytes(Kernel::config));
        const int k = static_cast<int>(place.split * args.k_per_split) + tile * Kernel::config.block_k;
        const int batch_few = args.stride(is_swapped<Kernel>) != 0 ? static_cast<int>(place.batch) : 0;
        const int batch_many = args.stride(!is_swapped<Kernel>) != 0 ? static_cast<int>(place.batch) : 0;
        Real* const few = tile_of(stage);
        ptx::cp_async_bulk_tensor_3d(few, &args.few, k, static_cast<int>(place.row0), batch_few, full_ + stage);
        ptx::cp_async_bulk_tensor_3d(few + few_elements(Kernel::config), &args.many, k, static_cast<int>(place.column0), batch_many,
                                     full_ + stage);
    }

    // Waits for a tile, and returns its place.
    __device__ const Real* landed(int tile) const {
        const int stage = tile % Kernel::config.stages;
        wait(full_ + stage, tile / Kernel::config.stages);
        return tile_of(stage);
    }
    // All lanes of a warp that has read the tile call this. zero: the 0 of the warp's ReadBits.
    __device__ void release(int tile, unsigned zero) const {
        __syncwarp();
        if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(empty_ + tile % Kernel::config.stages + zero);
    }

private:
    __device__ Real* tile_of(int stage) const { return tiles_ + stage * stage_elements(Kernel::config); }
    // round: how often the stage was used before.
    __device__ static void wait(unsigned long long* barrier, int round) { wait_for_phase(barrier, static_cast<unsigned>(round) & 1); }

    Real* tiles_;
    unsigned long long* full_;
    unsigned long long* empty_;
};

// sums += the slice's lines of few times those of many. few, many: the thread's first vectors.
template <class Kernel>
__device__ inline void multiply(const Real* few, const Real* many, Real (&sums)[Kernel::config.thread_m * Kernel::config.thread_n]) {
    using Four = Vector<Real, kVector>;
#pragma unroll
    for (int k = 0; k < slice_depth(Kernel::config); k += kLine) {
        Four columns[Kernel::config.thread_n];
#pragma unroll
        for (int j = 0; j < Kernel::config.thread_n; ++j) columns[j] = load_vector<kVector>(many + j * Kernel::config.block_k + k);
        const auto row_at = [&](int i) { return load_vector<kVector>(few + i * Kernel::config.block_k + k); };
        Four rows[kRowsAhead + 1];
#pragma unroll
        for (int i = 0; i < kRowsAhead && i < Kernel::config.thread_m; ++i) rows[i] = row_at(i);
#pragma unroll
        for (int i = 0; i < Kernel::config.thread_m; ++i) {
            if (i + kRowsAhead < Kernel::config.thread_m) rows[(i + kRowsAhead) % (kRowsAhead + 1)] = row_at(i + kRowsAhead);
            const Four& row = rows[i % (kRowsAhead + 1)];
#pragma unroll
            for (int step = 0; step < kVector; ++step) {
#pragma unroll
                for (int j = 0; j < Kernel::config.thread_n; ++j) {
                    Real& sum = sums[i * Kernel::config.thread_n + j];
                    sum = fmaf(row.element[step], columns[j].element[step], sum);
                }
            }
        }
    }
}

// A 0 that is made of all that the warp has read (ReadBits): of sums of each row and of each column.
template <class Kernel>
__device__ inline unsigned zero_after(float one, const Real (&sums)[Kernel::config.thread_m * Kernel::config.thread_n]) {
    ReadBits bits(one);
#pragma unroll
    for (int i = 0; i < (Kernel::config.thread_m > Kernel::config.thread_n ? Kernel::config.thread_m : Kernel::config.thread_n); ++i)
        bits.add(sums[i % Kernel::config.thread_m * Kernel::config.thread_n + i % Kernel::config.thread_n]);
    return bits.zero();
}

// Adds up what the lanes along K have summed. Each time two lanes share their sums, one takes the first half of them and the other the
// second, so that in the end each lane has its eighth of them, whole.
//
//     distance 4   | lane 0: 0 … 3               | lane 4: 4 … 7               |   in eighths of the sums
//     distance 2   | lane 0: 0 1  | lane 2: 2 3  | lane 4: 4 5  | lane 6: 6 7  |
template <int left, int distance = kLanesAlongK / 2, int count>
__device__ inline void add_up_lanes(Real (&sums)[count]) {
    constexpr int half = left / 2;
    const bool takes_second = (threadIdx.x & distance) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
        const Real kept = takes_second ? sums[half + i] : sums[i];
        const Real given = takes_second ? sums[i] : sums[half + i];
        sums[i] = kept + __shfl_xor_sync(0xffffffffu, given, distance);
    }
    if constexpr (distance > 1) add_up_lanes<half, distance / 2>(sums);
}

// part: block_m rows of block_n elements.
template <class Kernel>
__device__ inline void store_eighth(Real* part, const ThreadPlace& here,
                                    const Real (&sums)[Kernel::config.thread_m * Kernel::config.thread_n]) {
    constexpr int columns = Kernel::config.thread_n;
    constexpr int eighth = Kernel::config.thread_m * columns / kLanesAlongK;
    constexpr bool whole_rows = eighth % columns == 0;
    const int lane = static_cast<int>(threadIdx.x) % kLanesAlongK;
#pragma unroll
    for (int i = 0; i < eighth; ++i) {
        const int row = whole_rows ? lane * (eighth / columns) + i / columns : (lane * eighth + i) / columns;
        const int column = whole_rows ? i % columns : (lane * eighth + i) % columns;
        part[(here.row0 + row) * Kernel::config.block_n + here.column0 + column] = sums[i];
    }
}

template <class Kernel>
__device__ void kernel(const SkinnyArgs& args) {
    static_assert(first_violation(Kernel::config, Kernel::signature) == nullptr);
    static_assert(sums_of_slices(Kernel::config) <= ring_elements(Kernel::config));
    SharedMemory shared;
    Real* const tiles = shared.take<Real, ring_elements(Kernel::config)>()[0];
    unsigned long long* const barriers = shared.take<unsigned long long, skinny::barriers(Kernel::config)>()[0];
    const Ring<Kernel> ring(tiles, barriers);
    if (threadIdx.x == 0) {
        // Where nothing is multiplied, there are no maps.
        if (args.k > 0) {
            ptx::prefetch_tensormap(&args.few);
            ptx::prefetch_tensormap(&args.many);
        }
        ring.init();
    }
    const FewByMany place = place_of_block<Kernel>(args);
    const i64 k_begin = place.split * args.k_per_split;
    const i64 k_end = k_begin + args.k_per_split < args.k ? k_begin + args.k_per_split : args.k;
    const int tile_count = k_end > k_begin ? static_cast<int>((k_end - k_begin + Kernel::config.block_k - 1) / Kernel::config.block_k) : 0;
    // Everyone knows of the barriers.
    __syncthreads();
    wait_for_previous_kernel();
    if (threadIdx.x == 0) {
        for (int tile = 0; tile < Kernel::config.stages && tile < tile_count; ++tile) ring.bring(args, place, tile);
    }

    const ThreadPlace here = thread_place<Kernel>();
    const int few_offset = here.row0 * Kernel::config.block_k + here.k0;
    const int many_offset = few_elements(Kernel::config) + here.column0 * Kernel::config.block_k + here.k0;
    Real sums[Kernel::config.thread_m * Kernel::config.thread_n] = {};
    for (int tile = 0; tile < tile_count; ++tile) {
        const int next = tile - refill_behind(Kernel::config) + Kernel::config.stages;
        if (threadIdx.x == 0 && next >= Kernel::config.stages && next < tile_count) ring.bring(args, place, next);
        // The warp multiplies together again.
        __syncwarp();
        const Real* const stage = ring.landed(tile);
        multiply<Kernel>(stage + few_offset, stage + many_offset, sums);
        ring.release(tile, zero_after<Kernel>(args.one, sums));
    }

    add_up_lanes<Kernel::config.thread_m * Kernel::config.thread_n>(sums);
    // All tiles have been read: the slices' sums take their place.
    __syncthreads();
    const int slice = static_cast<int>(threadIdx.x) / 32 / warps_n(Kernel::config);
    store_eighth<Kernel>(tiles + slice * Kernel::config.block_m * Kernel::config.block_n, here, sums);
    // All slices' sums are there.
    __syncthreads();
    store_sums_of_parts<Kernel, Kernel::config.slice_k, threads(Kernel::config)>(args, place, tiles);
}

}  // namespace tmm::skinny
