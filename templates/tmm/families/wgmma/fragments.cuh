// The products of a left operand that comes from registers (fragments.h says why and who holds what).
#pragma once

#include "tmm/families/wgmma/fragments.h"
#include "tmm/families/wgmma/pipeline.cuh"
#include "tmm/families/wgmma/store.cuh"
#include "tmm/ptx.cuh"

namespace tmm::wgmma {

// A thread's place in a left tile, from its warpgroup's first row on.
template <const TileLayout& tile>
class FragmentReader {
public:
    __device__ explicit FragmentReader(int group_row) : odd_(threadIdx.x % 2 != 0) {
        const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
#pragma unroll
        for (int read = 0; read < kFragments; ++read)
            offsets_[read] = static_cast<unsigned>(group_row / row_elements(tile) * slab_bytes(tile) +
                                                   fragment_offset(thread, fragment_of(thread, read), slab_bytes(tile)));
    }

    // Reads the fragments of the i-th 64 rows of the warpgroup. k: a multiple of 8.
    __device__ void read(unsigned address, int i, int k, unsigned (&fragments)[kFragments]) const {
        const unsigned start = static_cast<unsigned>(i * kRows / row_elements(tile) * slab_bytes(tile) + k * kRowBytes);
        unsigned words[kFragments];
#pragma unroll
        for (int read = 0; read < kFragments; ++read) words[read] = ptx::ld_shared(address + offsets_[read] + start);
#pragma unroll
        for (int fragment = 0; fragment < kFragments; ++fragment) fragments[fragment] = odd_ ? words[fragment ^ 2] : words[fragment];
    }

private:
    unsigned offsets_[kFragments];
    bool odd_;
};

// Multiplies all tiles of an item. While the instructions of one step of k run, the fragments of the next are read into the other set
// of registers, whose own instructions have ended.
template <class Kernel>
__device__ inline void multiply_fragments(Pipeline<Kernel>& pipeline, const WorkItem& item, int group_row, int group_column,
                                          Sums<Kernel>& sums) {
    using P = Pipeline<Kernel>;
    constexpr int parts = group_m(Kernel::config) / kRows;
    constexpr int step = k_step(Kernel::signature);
    static_assert(Kernel::config.block_k / step % 2 == 0, "the sets take turns from tile to tile too");
    const FragmentReader<P::left> reader(group_row);
    const auto right_distance = static_cast<unsigned>(distance_of<P::right>(group_column, 0));
    unsigned fragments[2][parts][kFragments];
    for (int tile = 0; tile < item.tiles; ++tile) {
        pipeline.wait_full();
        const unsigned left = pipeline.left_address();
        const unsigned right = first_descriptor<P::right>(pipeline.right_address()) + right_distance;
#pragma unroll
        for (int k = 0; k < Kernel::config.block_k; k += step) {
            auto& set = fragments[k / step % 2];
#pragma unroll
            for (int i = 0; i < parts; ++i) reader.read(left, i, k, set[i]);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < parts; ++i)
                ptx::wgmma_mma_async_fragments<Kernel::signature.type_a, group_n(Kernel::config)>(
                    sums.of[i], set[i], descriptor(right, distance_of<P::right>(0, k)),
                    adds_to_sums(Kernel::config, Kernel::signature, tile, k));
            ptx::wgmma_commit_group();
            ptx::wgmma_wait_group<1>();
            // An instruction that has ended for one thread has had the fragments of all, so that none of them still reads that stage.
            if (k == 0 && tile > 0) pipeline.release_previous();
        }
        pipeline.advance();
    }
    pipeline.pass_turn();
    ptx::wgmma_wait_group<0>();
#pragma unroll
    for (int i = 0; i < parts; ++i) ptx::hold(sums.of[i]);
    if (item.tiles > 0) pipeline.release_previous();
}

}  // namespace tmm::wgmma
