// The last step of a product by planes: FP32 FMAs, where the step before it refused since some line does not fit its planes (Inf, NaN,
// too wide a range). Elsewhere it ends at once, and has few blocks so as to do that soon. So no call waits for the host to know.
//
// It is simt but for its sums: each of kPromotedDepth of K is added to a total, and begins with what that addition lost, so that the
// error of a long sum stays as small as that of planes.
#pragma once

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/families/simt/kernel.cuh"
#include "tmm/ptx.cuh"
#include "tmm/steps/planes/unfit_marks.cuh"
#include "tmm/steps/rescue/rules.h"

namespace tmm::rescue {

// The simt kernel whose tiles are multiplied here.
template <class Kernel>
struct ProductOf : Kernel {
    static constexpr KernelConfig config = Kernel::step.tile;
};

using simt::Sums;

// total += sums, which then begin anew with what that lost: a float (Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B),
// or nothing where the total is not finite.
template <class Kernel>
__device__ inline void promote(Sums<Kernel>& total, Sums<Kernel>& sums) {
    using Sum = SumOf<Kernel>;
#pragma unroll
    for (int i = 0; i < Kernel::config.thread_m; ++i) {
#pragma unroll
        for (int j = 0; j < Kernel::config.thread_n; ++j) {
            const Sum sum = total[i][j] + sums[i][j];
            const Sum added = sum - total[i][j];
            const Sum lost = (total[i][j] - (sum - added)) + (sums[i][j] - added);
            total[i][j] = sum;
            sums[i][j] = lost - lost == 0 ? lost : 0;
        }
    }
}

template <class Kernel>
__device__ inline void multiply(const GemmArgs& args, const WorkItem& item, SharedTiles<SumOf<Kernel>> tiles_a,
                                SharedTiles<SumOf<Kernel>> tiles_b) {
    using T = SumOf<Kernel>;
    const simt::ThreadPlace place = simt::thread_place<Kernel>();
    using CopyA = TileCopy<T, simt::Layouts<Kernel>::a, simt::threads(Kernel::config), Kernel>;
    using CopyB = TileCopy<T, simt::Layouts<Kernel>::b, simt::threads(Kernel::config), Kernel>;
    TilePipeline<CopyA, CopyB, Kernel::config.stages> pipeline(
        CopyA(static_cast<const T*>(args.a) + item.batch * args.stride_a, args.lda, item.row0, args.m, item.k_begin, item.k_end),
        CopyB(static_cast<const T*>(args.b) + item.batch * args.stride_b, args.ldb, item.column0, args.n, item.k_begin, item.k_end),
        tiles_a, tiles_b, item.tiles);
    simt::FragmentsOfA<Kernel> a(tiles_a, place.m, 0);
    simt::FragmentsOfB<Kernel> b(tiles_b, place.n, 0);
    Sums<Kernel> total = {};
    Sums<Kernel> sums = {};
    pipeline.begin();
    for (int tile = 0; tile < item.tiles; ++tile) {
        pipeline.start_copy();
#pragma unroll
        for (int k = 0; k < Kernel::config.block_k; ++k) {
            a.read(k);
            b.read(k);
            simt::multiply<Kernel>(a[k], b[k], sums);
        }
        if ((tile + 1) % (kPromotedDepth / Kernel::config.block_k) == 0) promote<Kernel>(total, sums);
        pipeline.next_tile();
        a.next_stage();
        b.next_stage();
    }
    // What the last addition loses is less than a rounding.
    promote<Kernel>(total, sums);
    simt::store_results_of<Kernel>(args, item, place, total, nullptr);
}

template <class Kernel>
__device__ void kernel(const RescueArgs& args) {
    static_assert(first_violation(Kernel::step, Kernel::signature) == nullptr);
    using Product = ProductOf<Kernel>;
    using T = SumOf<Product>;
    constexpr int stages = Product::config.stages;
    wait_for_previous_kernel();
    if (!planes::any_unfit(args.unfit_a, args.unfit_b)) return;
    SharedMemory shared;
    const SharedTiles<T> tiles_a = shared.take<T, tile_elements(simt::Layouts<Product>::a), stages>();
    const SharedTiles<T> tiles_b = shared.take<T, tile_elements(simt::Layouts<Product>::b), stages>();
    const auto all = static_cast<unsigned>(items(Kernel::step, args.m, args.n, args.batch, args.split_k));
    for (unsigned index = blockIdx.x; index < all; index += gridDim.x)
        multiply<Product>(args, work_item<Product>(args, index), tiles_a, tiles_b);
}

}  // namespace tmm::rescue
