// The wgmma family: tensor cores fed by the copy engine (TMA). A block is one warpgroup that brings tiles of A and B to shared
// memory and one to three that multiply them; the two sides meet at barriers only.
//
//   ring of `stages`:    | left right | left right | left right | …       full[s]:  the tiles of stage s have landed
//        producer  ----> brings s      brings s+1                         empty[s]: all consumers have read stage s
//        consumers ---->                              multiply s
//
// Consumers share a tile of C, or (ping_pong) take whole ones in turn, so that the tensor cores go on while results leave:
//
//        consumer 0:  multiply item 0 | store 0         | multiply item 2 | …
//        consumer 1:                  | multiply item 1 | store 1         | …
//
// f16 and bf16 go in as they are. compute = tf32 multiplies floats: of each the tensor cores take the sign, the 8 bits of exponent and
// the upper 10 of fraction, and ignore the lower 13. The copy engine has rounded the operands to such numbers by then, to the nearest
// (TensorMapRequest::rounds_to_tf32), so that nothing is cut off. The products of two such numbers are exact.
#pragma once

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/families/wgmma/boxes.cuh"
#include "tmm/families/wgmma/finish.cuh"
#include "tmm/families/wgmma/fragments.cuh"
#include "tmm/families/wgmma/gate.cuh"
#include "tmm/families/wgmma/pipeline.cuh"
#include "tmm/families/wgmma/planes.cuh"
#include "tmm/families/wgmma/store.cuh"
#include "tmm/ptx.cuh"
#include "tmm/steps/planes/unfit_marks.cuh"

namespace tmm::wgmma {

// Multiplies all tiles of an item. The instructions of a tile run while the next is waited for; a stage is free when those that
// read it have ended.
template <class Kernel>
__device__ inline void multiply(Pipeline<Kernel>& pipeline, const WorkItem& item, int group_row, int group_column, Sums<Kernel>& sums) {
    using P = Pipeline<Kernel>;
    const auto left_distance = static_cast<unsigned>(distance_of<P::left>(group_row, 0));
    const auto right_distance = static_cast<unsigned>(distance_of<P::right>(group_column, 0));
    for (int tile = 0; tile < item.tiles; ++tile) {
        pipeline.wait_full();
        const unsigned left = first_descriptor<P::left>(pipeline.left_address()) + left_distance;
        const unsigned right = first_descriptor<P::right>(pipeline.right_address()) + right_distance;
        ptx::wgmma_fence();
#pragma unroll
        for (int k = 0; k < Kernel::config.block_k; k += k_step(Kernel::signature)) {
#pragma unroll
            for (int i = 0; i < group_m(Kernel::config) / kRows; ++i)
                ptx::wgmma_mma_async<Kernel::signature.type_a, group_n(Kernel::config), !P::left.along_k, !P::right.along_k>(
                    sums.of[i], descriptor(left, distance_of<P::left>(i * kRows, k)), descriptor(right, distance_of<P::right>(0, k)),
                    adds_to_sums(Kernel::config, Kernel::signature, tile, k));
        }
        ptx::wgmma_commit_group();
        ptx::wgmma_wait_group<1>();
        if (tile > 0) pipeline.release_previous();
        pipeline.advance();
    }
    pipeline.pass_turn();
    ptx::wgmma_wait_group<0>();
#pragma unroll
    for (int i = 0; i < group_m(Kernel::config) / kRows; ++i) ptx::hold(sums.of[i]);
    if (item.tiles > 0) pipeline.release_previous();
}

template <class Kernel>
__device__ void kernel(const WgmmaArgs& args) {
    static_assert(first_violation(Kernel::config, Kernel::signature) == nullptr);
    SharedMemory shared;
    constexpr i64 tiles_bytes = pipeline_bytes(Kernel::config, Kernel::signature) > part_bytes(Kernel::config)
                                    ? pipeline_bytes(Kernel::config, Kernel::signature)
                                    : part_bytes(Kernel::config);
    unsigned char* const tiles = shared.take<unsigned char, static_cast<int>(tiles_bytes)>()[0];
    const SharedTiles<unsigned char> staged =
        shared.take<unsigned char, staged_tile_bytes(Kernel::config, Kernel::signature), warps_of_consumers(Kernel::config)>();
    unsigned long long* const barriers = shared.take<unsigned long long, tmm::wgmma::barriers(Kernel::config, Kernel::signature)>()[0];

    Pipeline<Kernel> pipeline(tiles, barriers);
    if (threadIdx.x == 0) {
        // Where nothing is multiplied, there are no maps.
        if (args.k > 0) {
            ptx::prefetch_tensormap(&args.left);
            ptx::prefetch_tensormap(&args.right);
        }
        if constexpr (stores_boxes(Kernel::config, Kernel::signature))
            BoxStore<Kernel>::init(args, barriers + pipeline_barriers(Kernel::config));
        pipeline.init();
    }
    const Items<Kernel> items(args);
    if (Kernel::config.boundary == boundary::peeled && threadIdx.x == 0 && args.k > 0) pipeline.prefetch_edges(args, items.first());
    if constexpr (Kernel::config.planes > 1) {
        // Blocks of `rescue`, which comes next, most often for nothing, would only be in the way.
        ptx::griddepcontrol_wait();
        // Another kernel takes the whole product over.
        if (planes::any_unfit(args.unfit_a, args.unfit_b)) return;
    }
    // Everyone knows of the barriers, in all blocks that arrive at them.
    if constexpr (multicast(Kernel::config) > 1)
        ptx::cluster_meet();
    else
        __syncthreads();

    // The warp's number comes from the first lane, so that the compiler sees that it is the same in all lanes: what follows from it,
    // descriptors and addresses of boxes above all, then stays in uniform registers, from which wgmma and the copy engine take it.
    const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
    const int warpgroup = warp / (kWarpgroup / 32);
    if (warpgroup == 0) {
        if constexpr (trades_registers(Kernel::config)) ptx::setmaxnreg_dec<kProducerRegisters>();
        if (threadIdx.x < 32 && ptx::elect_sync()) {
            if constexpr (Kernel::config.planes == 1) wait_for_previous_kernel();
            items.for_each([&](const WorkItem& item) { pipeline.produce(args, item, items.rank()); });
            // Other blocks' arrivals reach into this one's shared memory until they have read all of their tiles.
            if constexpr (multicast(Kernel::config) > 1) pipeline.drain();
        }
        __syncwarp();
        if constexpr (Kernel::config.cluster > 1) {
            ptx::cluster_sync();
            ptx::cluster_meet();
        }
    } else {
        if constexpr (trades_registers(Kernel::config)) ptx::setmaxnreg_inc<consumer_registers(Kernel::config)>();
        const int consumer = warpgroup - 1;
        const int group = Kernel::config.ping_pong ? 0 : consumer;
        const int group_row = group / Kernel::config.warps_n * group_m(Kernel::config);
        const int group_column = group % Kernel::config.warps_n * group_n(Kernel::config);
        const int result_row = group / Kernel::config.warps_n * result_m(Kernel::config, Kernel::signature);
        const int result_column = group % Kernel::config.warps_n * result_n(Kernel::config, Kernel::signature);
        const int thread = static_cast<int>(threadIdx.x) - kWarpgroup;
        pipeline.find_told();
        [[maybe_unused]] int own_item = 0;
        unsigned char* const staged_here = staged[warp - kWarpgroup / 32];
        BoxStore<Kernel> boxes(args, staged_here, barriers + pipeline_barriers(Kernel::config), warp - kWarpgroup / 32);
        if constexpr (Kernel::config.planes == 1) wait_for_previous_kernel();
        const auto serve = [&](const WorkItem& item) {
            Sums<Kernel> sums;
            if constexpr (!first_product_replaces(Kernel::config, Kernel::signature) || !ptx::kWgmmaTakesUnsetSums) sums = {};
            const auto wait_turn = [&] {
                if constexpr (Kernel::config.ping_pong) pipeline.wait_turn(consumer, own_item++);
            };
            // Bringing old values would delay the first tiles. These values come after the first tiles where the tiles that follow
            // leave time for it.
            const bool fetches_late = box_brings_values(Kernel::signature) && item.tiles > Kernel::config.stages;
            if (fetches_late) {
                wait_turn();
                pipeline.wait_full();
            }
            const WorkItem in_c = item_of_results<Kernel>(item);
            if constexpr (Kernel::signature.bias != BiasAxis::none && !is_partial<Kernel>)
                prefetch_bias_of_tile<Kernel>(args, in_c, result_row, result_column);
            if constexpr (Kernel::signature.residual && !is_partial<Kernel> &&
                          !(stores_boxes(Kernel::config, Kernel::signature) && box_brings_residual(Kernel::signature)))
                prefetch_residual_of_tile<Kernel>(args, in_c, result_row, result_column);
            if constexpr (stores_boxes(Kernel::config, Kernel::signature)) boxes.fetch(in_c, result_row, result_column);
            if (!fetches_late) wait_turn();
            if constexpr (Kernel::config.planes > 1) {
                multiply_planes<Kernel>(pipeline, args, item, group_row, group_column, sums);
                // Without k there is no product, and there are no exponents.
                if (args.k > 0)
                    unscale<Kernel>(args, item, group_row, group_column, Kernel::config.swap_ab ? args.n : args.m,
                                    Kernel::config.swap_ab ? args.m : args.n, sums);
            } else if constexpr (left_from_registers(Kernel::config, Kernel::signature)) {
                multiply_fragments<Kernel>(pipeline, item, group_row, group_column, sums);
            } else {
                multiply<Kernel>(pipeline, item, group_row, group_column, sums);
            }
            if constexpr (Kernel::config.cluster > 1) {
                // All of the block's warpgroups have read the tiles that the sums overwrite.
                ptx::bar_sync(1, consumers(Kernel::config) * kWarpgroup);
                auto* const part = reinterpret_cast<SumOf<Kernel>*>(tiles);
                show_part<Kernel>(group_row, group_column, sums, part);
                // Every block's part is there.
                ptx::cluster_sync();
                store_cluster_tile<Kernel>(tile_output<Kernel>(args, item), thread, part);
                // No block ends, and its shared memory with it, before the others have read it.
                ptx::cluster_meet();
            } else {
                const auto store = [&](const ResultSums<Kernel>& results) {
                    if constexpr (stores_boxes(Kernel::config, Kernel::signature))
                        boxes.store(in_c, result_row, result_column, results);
                    else
                        store_tile<Kernel>(tile_output<Kernel>(args, in_c), result_row, result_column, results, staged_here);
                };
                if constexpr (applies_gate(Kernel::config, Kernel::signature)) {
                    ResultSums<Kernel> results;
                    apply_gate<Kernel>(args, in_c, result_row, result_column, sums, results);
                    store(results);
                } else {
                    if constexpr (finishes_in_registers(Kernel::config, Kernel::signature))
                        finish_sums<Kernel>(args, item, group_row, group_column, sums);
                    store(sums);
                }
            }
        };
        if constexpr (Kernel::config.ping_pong)
            items.template for_each_in_turn<2>(consumer, serve, [&](int tiles) { pipeline.skip(tiles); });
        else
            items.for_each(serve);
        if constexpr (stores_boxes(Kernel::config, Kernel::signature)) boxes.finish();
    }
}

}  // namespace tmm::wgmma
