#include "generator/families/sums_of_parts.h"

#include "generator/plan/launch_plan.h"
#include "tmm/steps/reduce/rules.h"

namespace tmm {
namespace {

// About one block for each SM of a large GPU.
constexpr std::int64_t kBlocksWanted = 128;

}  // namespace

// Where there are many parts, threads share an element's parts: the fewer the elements, the more threads do.
KernelConfig reduce_config(const GemmProblem& problem, const KernelConfig& config) {
    const Extent extent = main_extent(problem, config);
    const std::int64_t rows = extent.rows * problem.batch;
    const int parts = partial_results(config);
    int sharers = parts >= 64 ? 16 : parts >= 16 ? 8 : parts >= 8 ? 4 : 1;
    int columns = extent.columns <= 64 ? 64 : sharers == 16 ? 128 : 256;
    while (columns > 16 && columns / reduce::kVector * sharers > 32 && rows * ((extent.columns + columns - 1) / columns) < kBlocksWanted) {
        columns /= 2;
        if (sharers < 32 && 16 * sharers <= parts) sharers *= 2;
    }
    return KernelConfig{.family = family::reduce, .block_m = sharers, .block_n = columns, .split_k = parts};
}

KernelConfig fixup_config(const KernelConfig& config) {
    return KernelConfig{.family = family::fixup,
                        .block_m = config.block_m,
                        .block_n = config.block_n,
                        .block_k = config.block_k,
                        .raster = config.raster,
                        .stream_k = config.stream_k};
}

}  // namespace tmm
