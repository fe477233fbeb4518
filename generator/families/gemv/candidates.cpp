#include "generator/families/gemv/gemv.h"

#include <algorithm>

#include "generator/families/candidate_choices.h"
#include "tmm/families/gemv/rules.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

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

}  // namespace tmm
