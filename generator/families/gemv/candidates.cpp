#include "generator/families/gemv/gemv.h"

#include <algorithm>

#include "generator/families/candidate_choices.h"
#include "tmm/families/gemv/rules.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

// The widest access of a thread.
constexpr int kVectorBytes = 16;
// About one block for each SM of a large GPU.
constexpr std::int64_t kBlocksWanted = 128;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace

std::vector<KernelConfig> gemv_configs(const GemmProblem& p, const DeviceInfo& device) {
    std::vector<KernelConfig> configs;
    // An access brings up to 16 bytes.
    const int widest = 16 / size_of(p.type_a);
    // Registers of a sum.
    const int register_words = sum_bytes(p) / 4;
    // Phases whose loads are under way together.
    constexpr int stages_choices[] = {1, 2, 4};
    for (const int swap : {0, 1}) {
        const std::int64_t few = swap ? p.n : p.m;
        const std::int64_t many = swap ? p.m : p.n;
        if (few > 32) continue;
        for (const int rows : {1, 2, 4, 8, 16}) {
            // Tile rows beyond those that there are cost registers; far fewer read the large operand again and again.
            if ((rows > 1 && rows >= 2 * few) || few > 4LL * rows) continue;
            for (int thread_n = 1; thread_n <= widest; thread_n *= 2) {
                for (const int threads_n : {1, 4, 8, 16, 32, 64}) {
                    for (const int block_k : {32, 64, 128, 256, 512, 1024, 2048}) {
                        KernelConfig config{.family = family::gemv,
                                            .block_m = rows,
                                            .block_n = threads_n * thread_n,
                                            .block_k = block_k,
                                            .thread_n = thread_n,
                                            .stages = 2,
                                            .vector_width = widest,
                                            .boundary = boundary::peeled,
                                            .swap_ab = swap};
                        const TileSize tile = tile_of_c(config);
                        if (divides(Extent{.rows = p.m, .columns = p.n}, p.k, tile.rows, tile.columns, block_k))
                            config.boundary = boundary::exact;
                        const int block_threads = gemv::threads(config);
                        if (block_threads < 128 || block_threads > 512) continue;
                        // Sums and elements leave room for addresses and for elements converted to floats.
                        const int registers = std::min(176, device.registers_per_sm / block_threads - 40);
                        const std::int64_t tiles = ceil_divide(few, rows) * ceil_divide(many, config.block_n) * p.batch;
                        for (const int split : split_choices(p, device, tiles, block_k)) {
                            config.split_k = split;
                            for (const int stages : stages_choices) {
                                config.stages = stages;
                                if (rows * thread_n * register_words + registers_read_ahead(p, config) <= registers)
                                    configs.push_back(config);
                            }
                        }
                    }
                }
            }
        }
    }
    return configs;
}

// The blocks are small, so that several find room where the product leaves that of one of its own blocks. A thread takes more than one of
// the many rows or columns only where enough blocks are left to fill a device. Where each k of the few rows or columns is a line of memory
// of its own while the many run along K, what a warp reads of the few costs more than the rest, and is to serve as many as can be.
KernelConfig gemv_strip(const Extent& extent, std::int64_t batch, const KernelSignature& signature, bool swap) {
    KernelConfig config{.family = family::gemv,
                        .vector_width = kVectorBytes / size_of(signature.type_a),
                        .boundary = boundary::peeled,
                        .swap_ab = swap ? 1 : 0,
                        .trim = 1};
    const bool few_are_scattered = gemv::many_along_k(config, signature) && !gemv::few_along_k(config, signature);
    const int threads_n = few_are_scattered ? 2 : 4;
    const std::int64_t few = few_count(config, extent.rows, extent.columns);
    const std::int64_t many = many_count(config, extent.rows, extent.columns) * batch;
    while (config.block_m < few) config.block_m *= 2;
    config.thread_n = 4;
    while (config.thread_n > 1 && (config.block_m * config.thread_n > 32 || many < kBlocksWanted * threads_n * config.thread_n))
        config.thread_n /= 2;
    config.block_n = threads_n * config.thread_n;
    config.block_k = 32 * gemv::k_step(config);
    config.stages = few_are_scattered ? 1 : 2;
    return config;
}

}  // namespace tmm
