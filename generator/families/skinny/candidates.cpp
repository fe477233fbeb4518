#include "generator/families/skinny/skinny.h"

#include <algorithm>

#include "generator/families/candidate_choices.h"
#include "generator/machine/occupancy.h"
#include "tmm/families/skinny/rules.h"

namespace tmm {
namespace {

// Most rows, or columns, that count as few. Where there are more, simt's tiles are faster.
constexpr std::int64_t kMostRows = 48;

struct RowsOfWarp {
    int thread_m, block_m;
};
constexpr RowsOfWarp kRows[] = {{2, 2}, {4, 4}, {4, 8}, {8, 8}, {12, 12}, {8, 16}, {16, 16}, {12, 24}, {16, 32}, {8, 32}, {12, 48}};

constexpr int kMostSums = 128;
constexpr int kFewestSums = 16;
constexpr int kFewestThreads = 128;
constexpr int kMostThreads = 512;
constexpr int kMostColumns = 128;
constexpr int kDepths[] = {64, 128, 256};
constexpr int kStages[] = {3, 4, 6, 8};
constexpr int kSlices[] = {1, 2, 4, 8};

// The part of the SMs' time in which they have work, where all blocks take as long.
constexpr double kWellFilled = 0.8;

// ptxas finds room for so many times the registers that a thread has: of 27 kernels that spilled 22 wanted more, and of 529 that did not
// spill 6 did.
constexpr double kRoomFor = 1.1;

bool would_spill(const KernelConfig& c, const DeviceInfo& device) {
    return device.registers_per_sm > 0 && skinny_registers(c) > kRoomFor * registers_for(device, skinny::threads(c));
}

}  // namespace

std::vector<KernelConfig> skinny_configs(const GemmProblem& p, const DeviceInfo& device) {
    std::vector<KernelConfig> configs;
    const KernelSignature signature = signature_of(p);
    const bool swap = p.m > p.n;
    const std::int64_t few = swap ? p.n : p.m;
    if (!device.has_tma() || few > kMostRows || !skinny::runs_along_k(signature)) return configs;
    const auto add_tile = [&](KernelConfig config) {
        const std::int64_t tiles = skinny::blocks(config, p.m, p.n, p.batch);
        for (const int slices : kSlices) {
            config.slice_k = slices;
            const int block_threads = skinny::threads(config);
            if (block_threads < kFewestThreads || block_threads > kMostThreads || would_spill(config, device)) continue;
            for (const int depth : kDepths) {
                config.block_k = depth;
                for (const int split : split_choices(p, device, tiles, depth)) {
                    config.split_k = split;
                    if (filled_places(tiles * split, device) < kWellFilled) continue;
                    for (const int stages : kStages) {
                        config.stages = stages;
                        if (!skinny::first_violation(config, signature) &&
                            skinny::shared_bytes(config, signature) <= device.shared_bytes_per_block)
                            configs.push_back(config);
                    }
                }
            }
        }
    };
    for (const RowsOfWarp& rows : kRows) {
        // Tile rows beyond those that there are cost time; reading columns again and again costs more.
        if (rows.block_m >= 2 * few || few > rows.block_m) continue;
        for (int thread_n = 1; thread_n <= 16; ++thread_n) {
            const int sums = rows.thread_m * thread_n;
            if (sums < kFewestSums || sums > kMostSums) continue;
            KernelConfig config{.family = family::skinny,
                                .block_m = rows.block_m,
                                .thread_m = rows.thread_m,
                                .thread_n = thread_n,
                                .vector_width = skinny::kVector,
                                .boundary = boundary::hardware,
                                .swap_ab = swap ? 1 : 0};
            const int columns_of_warp = thread_n * skinny::lanes_n(config);
            for (const int warps : {1, 2, 3, 4}) {
                config.block_n = warps * columns_of_warp;
                if (config.block_n <= kMostColumns) add_tile(config);
            }
        }
    }
    return configs;
}

}  // namespace tmm
