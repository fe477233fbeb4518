// The second half of stream-K (stream.h): adds up the parts of each tile that blocks have shared, in the order of K, and applies the
// epilogue, so that the same inputs give the same bits. Tiles that one block had to itself are done.
#pragma once

#include "tmm/copy/previous_kernel.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/output/output.cuh"
#include "tmm/output/partial_sums.cuh"
#include "tmm/schedule/stream.h"
#include "tmm/schedule/work_item.cuh"
#include "tmm/steps/fixup/rules.h"
#include "tmm/vocabulary/args.h"

namespace tmm::fixup {

// The product whose tiles were shared, as far as these are known by it.
template <class Kernel>
struct ProductOf : Kernel {
    static constexpr KernelConfig config = tile_of(Kernel::step);
};

template <class Kernel>
__device__ void kernel(const GemmArgs& args) {
    static_assert(first_violation(Kernel::step, Kernel::signature) == nullptr);
    using Product = ProductOf<Kernel>;
    constexpr KernelConfig config = Product::config;
    const unsigned tile = blockIdx.x / blocks_per_tile(Kernel::step);
    const int vector = static_cast<int>(blockIdx.x % blocks_per_tile(Kernel::step) * blockDim.x + threadIdx.x);
    constexpr int vectors_per_row = config.block_n / kVector;
    const PhaseLine line = phase_line(Product::config, args);
    const i64 first = line.block_of(tile * line.phases);
    const i64 last = line.block_of((tile + 1) * line.phases - 1);
    const TileOfC place = tile_of_c<Product>(args, tile);
    const i64 row = place.row0 + vector / vectors_per_row;
    const i64 column = place.column0 + vector % vectors_per_row * kVector;
    const i64 left = args.n - column;
    // Blocks after the first begin with this tile.
    const i64 first_part = line.part_of(first, tile);

    wait_for_previous_kernel();
    if (first == last || vector >= vectors(Kernel::step) || row >= args.m || left <= 0) return;
    using Sum = SumOf<Kernel>;
    const Sum* parts = static_cast<const Sum*>(args.workspace) + vector * kVector;
    PartSum<Sum> sums[kVector] = {};
#pragma unroll 4
    for (i64 block = first; block <= last; ++block) {
        const i64 number = block == first ? first_part : 2 * block;
        const Vector<Sum, kVector> part = load_vector<kVector>(parts + number * (config.block_m * config.block_n));
#pragma unroll
        for (int i = 0; i < kVector; ++i) sums[i].add(part.element[i]);
    }
    Sum results[kVector];
#pragma unroll
    for (int i = 0; i < kVector; ++i) results[i] = sums[place_in_part(i)].value();
    output_to_c<Kernel>(args, place.batch)
        .template store_elements<kVector>(row, column, results, left < kVector ? static_cast<int>(left) : kVector);
}

}  // namespace tmm::fixup
