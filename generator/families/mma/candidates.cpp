#include "generator/families/mma/mma.h"

#include <algorithm>

#include "generator/families/candidate_choices.h"
#include "tmm/families/mma/rules.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

constexpr MmaTile kTiles[] = {
    {128, 128, 2, 2, 2}, {128, 256, 2, 4, 1}, {256, 128, 4, 2, 1}, {128, 128, 2, 4, 1}, {128, 128, 4, 2, 1}, {256, 64, 4, 1, 2},
    {64, 256, 1, 4, 2},  {192, 128, 3, 2, 1}, {128, 192, 2, 3, 1}, {128, 64, 2, 2, 2},  {64, 128, 2, 2, 2},  {128, 64, 4, 2, 2},
    {64, 128, 2, 4, 2},  {96, 128, 3, 2, 1},  {128, 96, 2, 3, 1},  {64, 64, 2, 2, 3},   {64, 64, 2, 4, 2},   {64, 64, 4, 2, 2},
    {128, 32, 4, 1, 3},  {32, 128, 1, 4, 3},  {256, 32, 4, 1, 2},  {32, 256, 1, 4, 2},  {64, 32, 2, 2, 4},   {32, 64, 2, 2, 4},
    {64, 32, 4, 1, 4},   {32, 64, 1, 4, 4},   {32, 32, 2, 2, 4},   {32, 32, 1, 2, 8},   {16, 128, 1, 4, 4},  {128, 16, 4, 1, 4},
    {16, 256, 1, 4, 3},  {256, 16, 4, 1, 3},  {16, 64, 1, 4, 4},   {64, 16, 4, 1, 4},   {16, 64, 1, 2, 8},   {16, 32, 1, 2, 8},
    {16, 16, 1, 1, 8},
};

// Sums of doubles take twice the registers.
constexpr MmaTile kTilesOfDoubles[] = {
    {128, 128, 4, 2, 1}, {128, 128, 2, 4, 1}, {256, 64, 4, 2, 1}, {64, 256, 2, 4, 1}, {128, 64, 2, 2, 2},  {64, 128, 2, 2, 2},
    {128, 64, 4, 2, 2},  {64, 128, 2, 4, 2},  {96, 128, 3, 4, 1}, {128, 96, 4, 3, 1}, {96, 96, 3, 3, 1},   {96, 64, 3, 2, 1},
    {64, 96, 2, 3, 1},   {64, 64, 2, 2, 3},   {64, 64, 2, 4, 2},  {64, 48, 2, 3, 2},  {48, 64, 3, 2, 2},   {128, 32, 4, 1, 3},
    {32, 128, 1, 4, 3},  {64, 32, 2, 1, 4},   {32, 64, 1, 2, 4},  {64, 32, 2, 2, 4},  {32, 64, 2, 2, 4},   {48, 48, 3, 3, 2},
    {32, 32, 2, 2, 4},   {32, 32, 1, 1, 8},   {16, 128, 1, 4, 4}, {128, 16, 4, 1, 4}, {112, 112, 7, 1, 1}, {112, 64, 7, 1, 1},
    {64, 112, 1, 7, 1},  {16, 64, 1, 2, 6},   {64, 16, 2, 1, 6},  {16, 256, 1, 8, 2}, {256, 16, 8, 1, 2},  {16, 32, 1, 2, 8},
    {32, 16, 2, 1, 8},   {16, 16, 1, 1, 8},
};

constexpr MmaPipeline kAsyncPipelines[] = {{32, 4}, {64, 3}, {32, 3}, {64, 4}, {32, 6}, {64, 2}, {64, 6}, {128, 2}, {128, 3}};
// Small matrices are all edges, where copies that realign take longer than reading one by one.
constexpr MmaPipeline kPipelinesOfDoubles[] = {{16, 4, 2}, {16, 3, 2}, {32, 3, 2}, {16, 6, 2},
                                               {32, 2, 2}, {16, 2, 2}, {32, 4, 2}, {16, 8, 2}};
constexpr MmaPipeline kPipelinesOfBytes[] = {{64, 4, 16}, {128, 3, 16}, {64, 3, 16},  {128, 4, 16}, {64, 6, 16},
                                             {32, 4, 16}, {128, 2, 16}, {256, 2, 16}, {32, 6, 16}};
constexpr MmaPipeline kRegisterPipelinesOfBytes[] = {{64, 1, 1}, {32, 2, 1}, {32, 1, 1}, {64, 2, 1}};
constexpr MmaPipeline kRegisterPipelines[] = {{32, 2}, {32, 1, 1}, {64, 1}, {32, 1}, {64, 2}, {16, 2}, {32, 2, 1}, {64, 1, 1}, {16, 2, 1}};

// The system's part of each block's shared memory.
constexpr std::int64_t kReservedSharedBytes = 1024;

// A later pipeline counts as this much slower, so that many tiles are tried before many pipelines of one tile.
constexpr double kPipelineDoubt = 0.04;

constexpr int kMostRegistersOfThread = 255;

// A problem that nobody tuned is offered so many pipelines of each tile.
constexpr std::size_t kDefaultPipelines = 2;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

bool would_spill(const KernelConfig& c, const KernelSignature& s) {
    return mma_registers(c, s) > kMostRegistersOfThread;
}

}  // namespace

bool mma_multiplies(ElementType type) {
    return is_16_bit(type) || type == ElementType::f64 || type == ElementType::s8;
}

std::span<const MmaTile> mma_tiles(ElementType type) {
    if (type == ElementType::f64) return kTilesOfDoubles;
    return kTiles;
}

std::span<const MmaPipeline> mma_pipelines(const KernelSignature& signature) {
    if (signature.type_a == ElementType::f64) return kPipelinesOfDoubles;
    const bool bytes = signature.type_a == ElementType::s8;
    if (mma_copies_async(signature)) return bytes ? std::span<const MmaPipeline>(kPipelinesOfBytes) : kAsyncPipelines;
    return bytes ? std::span<const MmaPipeline>(kRegisterPipelinesOfBytes) : kRegisterPipelines;
}

bool mma_copies_async(const KernelSignature& signature) {
    return signature.align_a >= 4 || signature.align_b >= 4;
}

KernelConfig mma_config(const MmaTile& tile, const MmaPipeline& pipeline, const KernelSignature& signature, const DeviceInfo& device) {
    KernelConfig config{.family = family::mma,
                        .block_m = tile.block_m,
                        .block_n = tile.block_n,
                        .block_k = pipeline.block_k,
                        .stages = pipeline.stages,
                        .async_copy = mma_copies_async(signature) ? 1 : 0,
                        .vector_width = pipeline.vector_width,
                        .boundary = boundary::peeled,
                        .warps_m = tile.warps_m,
                        .warps_n = tile.warps_n};
    const std::int64_t held =
        std::min<std::int64_t>(device.shared_bytes_per_sm / (mma::shared_bytes(config, signature) + kReservedSharedBytes),
                               device.registers_per_sm / (mma::threads(config) * mma_registers(config, signature)));
    config.min_blocks = static_cast<int>(std::clamp<std::int64_t>(held, 1, tile.min_blocks));
    return config;
}

int mma_registers(const KernelConfig& c, const KernelSignature& s) {
    constexpr int kAddresses = 24;
    const int words = sum_bytes(s) / 4;
    const int fragments =
        (mma::reads_ahead(s) ? 2 : 1) * mma::fragment_registers(s) * words * (mma::warp_rows(c) + mma::warp_columns(c)) / mma::kSquare;
    // Until it is stored, a single element takes a register of its own, and so do the two elements from which one of a realigned tile
    // comes; and each access takes a register for its address.
    const auto on_the_way = [&](const mma::TileLayout& tile) {
        if (tile.async_copy) return 0;
        const int elements = mma::tile_elements(tile) / mma::threads(c);
        return tile.realigned ? elements * 7 / 4 : tile.access == 1 ? elements * 3 : elements / 2;
    };
    // ptxas keeps more addresses of doubles where a warp's many columns lie along K.
    const int crowded = s.type_b == ElementType::f64 && s.op_b == Operation::transpose && mma::warp_columns(c) > 32 ? 8 : 0;
    return words * mma::accumulators(c) + fragments + crowded + on_the_way(mma::layout_a(c, s)) + on_the_way(mma::layout_b(c, s)) +
           kAddresses;
}

std::vector<Search::Candidate> mma_candidates(const GemmProblem& p, const DeviceInfo& device) {
    std::vector<Search::Candidate> candidates;
    if (!mma_multiplies(p.type_a)) return candidates;
    const KernelSignature signature = signature_of(p);
    for (const MmaTile& tile : mma_tiles(p.type_a)) {
        const std::int64_t tiles_m = ceil_divide(p.m, tile.block_m);
        const std::int64_t tiles_n = ceil_divide(p.n, tile.block_n);
        const std::int64_t tiles = tiles_m * tiles_n * p.batch;
        double doubt = 0;
        for (const MmaPipeline& pipeline : mma_pipelines(signature)) {
            KernelConfig config = mma_config(tile, pipeline, signature, device);
            if (would_spill(config, signature)) continue;
            if (divides(Extent{.rows = p.m, .columns = p.n}, p.k, tile.block_m, tile.block_n, pipeline.block_k))
                config.boundary = boundary::exact;
            config.raster = band_choice(tiles_m, tiles_n, p.batch, device);
            for (const int split : split_choices(p, device, tiles, pipeline.block_k)) {
                config.split_k = split;
                candidates.push_back({config, doubt});
                // Elements that are read one by one need not all be on their way at once; where a bound makes them spill, the search says
                // so.
                if (pipeline.vector_width > 1 || config.min_blocks == tile.min_blocks) continue;
                candidates.push_back({config, doubt});
                candidates.back().config.min_blocks = tile.min_blocks;
            }
            doubt += kPipelineDoubt;
        }
    }
    return candidates;
}

std::vector<KernelConfig> mma_defaults(const GemmProblem& p, const DeviceInfo& device) {
    std::vector<KernelConfig> configs;
    if (!mma_multiplies(p.type_a)) return configs;
    const KernelSignature signature = signature_of(p);
    for (const MmaPipeline& pipeline : mma_pipelines(signature).first(kDefaultPipelines)) {
        for (const MmaTile& tile : mma_tiles(p.type_a)) {
            KernelConfig config = mma_config(tile, pipeline, signature, device);
            if (would_spill(config, signature)) continue;
            const std::int64_t tiles = ceil_divide(p.m, config.block_m) * ceil_divide(p.n, config.block_n) * p.batch;
            for (const int split : split_choices(p, device, tiles, config.block_k)) {
                config.split_k = split;
                configs.push_back(config);
            }
        }
    }
    return configs;
}

}  // namespace tmm
