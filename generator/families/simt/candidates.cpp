#include "generator/families/simt/simt.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "generator/families/candidate_choices.h"
#include "generator/families/family.h"
#include "generator/families/product_problem.h"
#include "generator/machine/occupancy.h"
#include "generator/schedule/packing.h"
#include "tmm/families/simt/rules.h"

namespace tmm {
namespace {

struct RegisterTile {
    int block_m, block_n, thread_m, thread_n;
    int min_blocks = 1;
};

// Block and thread tiles worth trying, from large products to thin and small ones.
constexpr RegisterTile kRegisterTiles[] = {
    {256, 128, 16, 8, 1}, {128, 256, 8, 16, 1}, {128, 128, 8, 8, 2}, {128, 128, 16, 8, 2}, {128, 128, 8, 16, 2}, {128, 64, 8, 8, 4},
    {64, 128, 8, 8, 4},   {64, 64, 8, 8, 4},    {64, 64, 8, 4, 4},   {64, 64, 4, 8, 4},    {64, 64, 4, 4, 2},    {128, 32, 8, 4, 4},
    {32, 128, 4, 8, 4},   {64, 32, 8, 4, 4},    {32, 64, 4, 8, 4},   {32, 64, 4, 4, 4},    {32, 32, 4, 4, 8},    {32, 32, 4, 2, 4},
    {16, 128, 4, 8, 4},   {128, 16, 8, 4, 4},   {16, 64, 4, 4, 8},   {256, 32, 8, 8, 4},   {32, 256, 8, 8, 4},   {256, 64, 8, 8, 2},
    {64, 256, 8, 8, 2},   {96, 128, 8, 8, 2},   {128, 96, 8, 8, 2},  {192, 128, 12, 8, 1}, {16, 32, 4, 1, 4},    {256, 128, 8, 8, 1},
    {128, 256, 8, 8, 1},  {256, 64, 16, 8, 2},  {64, 256, 8, 16, 2}, {96, 128, 12, 8, 2},  {128, 64, 8, 4, 2},   {64, 128, 4, 8, 2},
    {64, 64, 4, 4, 4},    {128, 64, 16, 8, 3},  {64, 128, 8, 16, 3}, {96, 96, 12, 8, 3},   {32, 128, 8, 4, 4},   {128, 32, 8, 8, 4},
    {32, 128, 8, 8, 4},   {256, 16, 8, 4, 4},   {16, 128, 8, 4, 4},  {16, 128, 8, 8, 4},   {16, 64, 4, 4, 4},    {16, 256, 8, 4, 2},
    {16, 256, 16, 4, 2},  {32, 64, 8, 4, 4},    {32, 64, 8, 8, 8},   {64, 32, 8, 8, 8},    {64, 16, 4, 2, 8},    {64, 16, 8, 2, 8},
    {128, 16, 8, 8, 4},   {64, 64, 8, 4, 2},    {128, 64, 8, 8, 3},  {64, 64, 8, 16, 8},   {64, 64, 16, 8, 8},   {32, 128, 8, 16, 8},
    {128, 32, 16, 8, 8},  {32, 256, 8, 16, 4},  {256, 32, 16, 8, 4},
};

// Where C has few tiles, several of a block's warps stand before one tile and slice K. How many blocks an SM holds then follows from the
// slices.
constexpr RegisterTile kSlicedTiles[] = {
    {4, 32, 4, 1},  {4, 64, 4, 2},   {4, 128, 4, 4},  {8, 32, 8, 1},  {8, 64, 8, 2},   {8, 128, 8, 4},  {16, 32, 8, 2},   {16, 64, 8, 4},
    {16, 32, 4, 4}, {16, 128, 8, 8}, {32, 32, 8, 4},  {32, 64, 8, 8}, {32, 128, 8, 8}, {16, 16, 4, 2},  {32, 4, 1, 4},    {64, 4, 2, 4},
    {128, 4, 4, 4}, {32, 8, 1, 8},   {64, 8, 2, 8},   {128, 8, 4, 8}, {32, 16, 2, 8},  {64, 16, 4, 8},  {32, 16, 4, 4},   {128, 16, 8, 8},
    {32, 32, 4, 8}, {64, 32, 8, 8},  {128, 32, 8, 8}, {64, 64, 8, 8}, {128, 64, 8, 8}, {64, 128, 8, 8}, {128, 128, 8, 8},
};
constexpr int kSlices[] = {2, 4, 8};
// Threads that an SM holds of such blocks. Tiles with more threads are not sliced: they leave nothing to fill.
constexpr int kSlicedThreads = 512;

struct Pipeline {
    int block_k, stages, async_copy;
};

// Tiles that are made to fit C. How many blocks an SM holds of them follows from their registers and shared memory.
constexpr int kAsManyAsFit = 0;
constexpr Pipeline kFittedPipelines[] = {{16, 3, 1}, {24, 2, 1}, {24, 3, 1}, {8, 3, 1}, {32, 2, 1}, {16, 4, 3}, {32, 2, 3}};
constexpr int kFittedSlices[] = {2, 4};
constexpr Pipeline kFittedSlicedPipelines[] = {{32, 3, 1}, {64, 2, 1}};

// Where K is small and tiles of 24 of it waste less than tiles of 16, all of K is on its way at once. Batches of 71 cubed take 54 us by
// 96x32x24 on an H200 where the best 16 deep take 69.
constexpr RegisterTile kShallowTiles[] = {{96, 32, 4, 4, 2},  {96, 32, 8, 4, 4},  {48, 32, 4, 4, 6}, {32, 48, 4, 4, 6},
                                          {48, 96, 12, 4, 3}, {96, 48, 4, 12, 3}, {32, 96, 4, 8, 4}, {64, 96, 8, 8, 4}};
constexpr Pipeline kShallowPipelines[] = {{24, 3, 1}, {24, 2, 1}, {24, 4, 1}};
constexpr std::int64_t kShallow = 96;
// The likelier pipelines come first: between equal predictions the order decides.
constexpr Pipeline kPipelines[] = {{16, 3, 1}, {8, 2, 0}, {32, 2, 1}, {16, 2, 0}, {16, 4, 1}, {32, 3, 1}, {8, 4, 1}, {8, 3, 1}, {16, 1, 0}};
constexpr Pipeline kSlicedPipelines[] = {{64, 4, 1}, {64, 3, 1}, {32, 6, 1}, {32, 4, 1}, {64, 2, 1}, {32, 3, 1}, {16, 4, 1}};
// The copy engine's pipelines have at most so many stages, and no more than find room.
constexpr Pipeline kTmaPipelines[] = {{16, 5, 3}, {32, 4, 3}, {32, 2, 3}, {8, 8, 3}, {16, 3, 3}};
constexpr Pipeline kSlicedTmaPipelines[] = {{64, 4, 3}, {32, 6, 3}, {64, 2, 3}};

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// The operands that lie badly for simt: their rows run along K or are not aligned to a whole vector.
int worth_packing(const GemmProblem& p) {
    const KernelSignature s = signature_of(p);
    const bool a = s.op_a == Operation::none || s.align_a < 16;
    const bool b = s.op_b == Operation::transpose || s.align_b < 16;
    return (a ? 1 : 0) | (b ? 2 : 0);
}

bool is_shallow(const GemmProblem& p) {
    return p.k <= kShallow && 24 * ceil_divide(p.k, 24) <= 16 * ceil_divide(p.k, 16);
}

bool rows_run_along_k(const GemmProblem& p) {
    return p.op_a == Operation::none || p.op_b == Operation::transpose;
}
bool both_rows_run_along_k(const GemmProblem& p) {
    return p.op_a == Operation::none && p.op_b == Operation::transpose;
}

// Which of two operands that lie badly is to be packed alone. Where the rows of both run along K, it is the one that costs less: the other
// is then the only one to be turned or read along K. Else it is the one whose rows do: the other is copied by narrower vectors, and costs
// no pass over it.
int worth_packing_alone(const GemmProblem& p) {
    if (worth_packing(p) != 3) return 0;
    if (both_rows_run_along_k(p)) return p.m <= p.n ? 1 : 2;
    return p.op_a == Operation::none ? 1 : p.op_b == Operation::transpose ? 2 : 0;
}

// One operand's tiles are turned, in whole vectors, and the other's are not. packed: the operands that pack has turned.
bool turns_vectors_of_one(const GemmProblem& p, int packed) {
    const KernelSignature s = signature_of(p);
    const bool a = p.op_a == Operation::none && (packed & 1) == 0;
    const bool b = p.op_b == Operation::transpose && (packed & 2) == 0;
    return a != b && (a ? s.align_a : s.align_b) >= 16;
}

KernelConfig turned_in_registers(KernelConfig config) {
    config.async_copy = 2;
    return config;
}
KernelConfig along_k(KernelConfig config) {
    config.along_k = 1;
    return config;
}
KernelConfig streamed(KernelConfig config) {
    config.stream_k = 1;
    return config;
}
KernelConfig packed(KernelConfig config, int pack_ab) {
    config.pack_ab = pack_ab;
    return config;
}
KernelConfig with_strips_packed(KernelConfig config) {
    config.trim = kTrimsByPack;
    return config;
}

// ptxas finds room for no more than so many times the registers that a thread has: among 1,170 kernels that want more, 560 spilled, and
// none of the others came within 3% of its problem's fastest.
constexpr double kRoomFor = 1.25;
constexpr double kAddresses = 24;
// Registers wanted where copies look for the matrix's edges, and for each vector that a thread copies then.
constexpr double kEdges = 10;
constexpr double kEdgesOfCopy = 1.3;

// The config gets as many stages as the blocks that an SM is to hold have room for.
KernelConfig with_stages_that_fit(KernelConfig config, const KernelSignature& signature, const DeviceInfo& device) {
    // The driver takes 1 KiB of each block.
    const std::int64_t room = std::min(device.shared_bytes_per_block, device.shared_bytes_per_sm / config.min_blocks - 1024);
    while (config.stages > 2 && shared_bytes_of(config, signature) > room) --config.stages;
    return config;
}

double registers_wanted(const KernelConfig& c, const KernelSignature& s) {
    const auto registers_of = [&](const simt::TileLayout& layout, int per_thread) {
        const bool has_edges = c.boundary != boundary::exact && !layout.padded && !simt::brings_by_tma(c);
        const int copied = layout.outer * layout.depth / simt::threads(c);
        return 2 * per_thread * simt::steps_at_once(layout) + (layout.async_copy ? 0 : copied) +
               (has_edges ? kEdges / 2 + kEdgesOfCopy * copied / layout.vector : 0);
    };
    constexpr int register_bytes = 4;
    const int words = sum_bytes(s) / register_bytes;
    return words *
               (c.thread_m * c.thread_n + registers_of(simt::layout_a(c, s), c.thread_m) + registers_of(simt::layout_b(c, s), c.thread_n)) +
           kAddresses;
}

// The assembler finds less room before compute capability 8.9: of 813 kernels of candidates for 7.5, 8.0 and 8.6, 129 spilled, 128 of them
// among the 239 that need more than this at most. For 8.9 and later 1 of 814 spilled.
constexpr double kRoomOfOlder = 1.05;

bool would_spill(const KernelConfig& c, const KernelSignature& s, const DeviceInfo& device) {
    if (!device.emulated && device.compute_capability() < 89 && simt_most_registers(c, s, device) > kRoomOfOlder) return true;
    return simt_register_need(c, s, device) > kRoomFor;
}

// The number of blocks whose registers and shared memory surely fit an SM.
int blocks_that_fit(KernelConfig config, const KernelSignature& signature, const DeviceInfo& device) {
    const std::int64_t bytes = std::max<std::int64_t>(1, shared_bytes_of(config, signature));
    config.min_blocks = 8;
    while (config.min_blocks > 1 &&
           (simt_most_registers(config, signature, device) > 1 || shared_bytes_for(device, config.min_blocks) < bytes))
        --config.min_blocks;
    return config.min_blocks;
}

// With so many tiles for each SM no parts of K are needed: for nine shapes that were searched with parts on an H200, the best config with
// so many tiles and with parts took 1.003 to 1.24 times as long as the best of all.
constexpr int kTilesThatSuffice = 8;

// Tiles that fill so much of their waves gain nothing where blocks share them.
constexpr double kWellFilled = 0.97;

bool pays_to_share(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    if (c.block_n % simt::kSumVector != 0) return false;
    const Extent main = main_extent(p, c);
    return filled_places(blocks_of(c, main.rows, main.columns, p.batch), device) < kWellFilled;
}

}  // namespace

// The need counts its sums, the elements of two k, vectors on their way through registers, and addresses.
double simt_register_need(const KernelConfig& c, const KernelSignature& s, const DeviceInfo& device) {
    if (device.registers_per_sm <= 0) return 0;
    return registers_wanted(c, s) / registers_for(device, simt::threads(c) * c.min_blocks);
}

// Among 2,505 kernels of untuned problems, compiled for seven architectures by NVRTC 13.0, 38 spilled whose plain need is 0.875 to 1 of
// what their threads have. What these had in common is added here.
double simt_most_registers(const KernelConfig& c, const KernelSignature& s, const DeviceInfo& device) {
    constexpr double for_shared_tiles = 17;
    if (device.registers_per_sm <= 0) return 0;
    const auto addresses = [&](const simt::TileLayout& layout) {
        return c.async_copy == 1 && layout.async_copy ? static_cast<double>(layout.outer) * layout.depth / simt::threads(c) / layout.vector
                                                      : 0;
    };
    const int architecture = device.compute_capability();
    // The need is fitted to compute capability 9.0.
    const double share = architecture < 80 ? 1.02 : architecture >= 120 ? 1.15 : 1;
    const double more =
        addresses(simt::layout_a(c, s)) + addresses(simt::layout_b(c, s)) + (c.stream_k != 0 && architecture != 90 ? for_shared_tiles : 0);
    return (share * registers_wanted(c, s) + more) / registers_for(device, simt::threads(c) * c.min_blocks);
}

std::vector<KernelConfig> simt_configs(const GemmProblem& p, const DeviceInfo& device) {
    std::vector<KernelConfig> configs;
    const auto push = [&](KernelConfig config) {
        const KernelSignature signature = main_signature(p, config);
        if (config.min_blocks == kAsManyAsFit) config.min_blocks = blocks_that_fit(config, signature, device);
        if (simt::brings_by_tma(config)) config = with_stages_that_fit(config, signature, device);
        if (would_spill(config, signature, device)) return;
        config.fma_order = likely_order(config, signature);
        configs.push_back(config);
        const bool shares = config.split_k == 1 && config.slice_k == 1 && !simt::brings_by_tma(config) && pays_to_share(p, config, device);
        if (shares && !would_spill(streamed(config), signature, device)) configs.push_back(streamed(config));
    };
    const auto add = [&](const RegisterTile& tile, int slices, std::span<const Pipeline> pipelines, int trim) {
        const Extent main = main_extent(p, KernelConfig{.block_m = tile.block_m, .block_n = tile.block_n, .trim = trim});
        const std::int64_t tiles_m = ceil_divide(main.rows, tile.block_m);
        const std::int64_t tiles_n = ceil_divide(main.columns, tile.block_n);
        const std::int64_t tiles = tiles_m * tiles_n * p.batch;
        for (const Pipeline& pipeline : pipelines) {
            for (const int split : split_choices(p, device, tiles, pipeline.block_k)) {
                if (split > 1 && tiles >= std::int64_t{kTilesThatSuffice} * device.sm_count) continue;
                KernelConfig config{
                    .family = family::simt,
                    .block_m = tile.block_m,
                    .block_n = tile.block_n,
                    .block_k = pipeline.block_k,
                    .thread_m = tile.thread_m,
                    .thread_n = tile.thread_n,
                    .stages = pipeline.stages,
                    .async_copy = pipeline.async_copy,
                    .vector_width = 4,
                    .boundary = divides(main, p.k, tile.block_m, tile.block_n, pipeline.block_k) ? boundary::exact : boundary::peeled,
                    .split_k = split,
                    .raster = band_choice(tiles_m, tiles_n, p.batch, device),
                    .min_blocks = tile.min_blocks,
                    .trim = trim,
                    .slice_k = slices};
                if (slices > 1) {
                    const int block_threads = simt::threads(config);
                    if (block_threads > kSlicedThreads) continue;
                    if (tiles * split * block_threads > static_cast<std::int64_t>(kSlicedThreads) * device.sm_count) continue;
                    config.min_blocks = std::clamp(kSlicedThreads / block_threads, 1, 8);
                }
                for (const int cluster : cluster_choices(split, device)) {
                    config.cluster = cluster;
                    if (simt::brings_by_tma(config)) {
                        push(packed(config, worth_packing(p)));
                        if (const KernelConfig strips = with_strips_packed(packed(config, worth_packing(p)));
                            trim != 0 && packed_strips(p, strips).any())
                            push(strips);
                        if (worth_packing(p) != 0 && split == 1) push(packed(config, worth_packing(p) | kPacksBeside));
                        continue;
                    }
                    push(config);
                    if (pipeline.async_copy == 1 && rows_run_along_k(p)) push(along_k(config));
                    if (pipeline.async_copy == 1 && turns_vectors_of_one(p, 0)) push(turned_in_registers(config));
                    if (const int alone = worth_packing_alone(p); alone != 0 && pipeline.async_copy == 1) {
                        push(both_rows_run_along_k(p) ? along_k(packed(config, alone)) : packed(config, alone));
                        if (turns_vectors_of_one(p, alone)) push(turned_in_registers(packed(config, alone)));
                    }
                    if (worth_packing(p) != 0) push(packed(config, worth_packing(p)));
                }
            }
        }
    };
    const auto add_tiles = [&](std::span<const RegisterTile> tiles, std::span<const Pipeline> pipelines) {
        for (const RegisterTile& tile : tiles) {
            add(tile, 1, pipelines, 0);
            if (!why_not_trimmed(p, KernelConfig{.block_m = tile.block_m, .block_n = tile.block_n})) add(tile, 1, pipelines, 1);
        }
    };
    const auto add_sliced_tiles = [&](std::span<const Pipeline> pipelines) {
        for (const RegisterTile& tile : kSlicedTiles) {
            for (const int slices : kSlices) {
                add(tile, slices, pipelines, 0);
                if (!why_not_trimmed(p, KernelConfig{.block_m = tile.block_m, .block_n = tile.block_n})) add(tile, slices, pipelines, 1);
            }
        }
    };
    add_tiles(kRegisterTiles, kPipelines);
    if (is_shallow(p)) add_tiles(kShallowTiles, kShallowPipelines);
    for (const FittedTile& fitted : fitted_tiles(p.m, p.n)) {
        const RegisterTile tile{fitted.block_m, fitted.block_n, fitted.thread_m, fitted.thread_n, kAsManyAsFit};
        for (const Pipeline& pipeline : kFittedPipelines)
            if (pipeline.async_copy != 3 || device.has_tma()) add(tile, 1, {&pipeline, 1}, 0);
        for (const int slices : kFittedSlices) add(tile, slices, kFittedSlicedPipelines, 0);
    }
    add_sliced_tiles(kSlicedPipelines);
    if (device.has_tma()) {
        add_tiles(kRegisterTiles, kTmaPipelines);
        add_sliced_tiles(kSlicedTmaPipelines);
    }
    return configs;
}

}  // namespace tmm
