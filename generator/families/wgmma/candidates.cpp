#include "generator/families/wgmma/wgmma.h"

#include <algorithm>
#include <cmath>

#include "generator/families/candidate_choices.h"
#include "generator/families/product_problem.h"
#include "tmm/families/wgmma/rules.h"

namespace tmm {
namespace {

constexpr int kMostStages = 16;
// Few rows of C, up to this number, are the instruction's columns. With more rows, only such tiles are swapped as have no counterpart
// unswapped.
constexpr std::int64_t kMostSwappedRows = 256;
// Tiles with a deeper stage than two rows of 128 bytes are no wider than that, so that some stages fit.
constexpr int kWidestDeepTile = 192;

// Tiles along K that a part of it is worth.
constexpr double kPhasesOfPart = 8;

struct Rows {
    int block_m, warps_m, warps_n;
};
// The k over which products of planes are summed before the sum is promoted. Sums of f16 products over more k would lose so much that is
// not the same each time, and so is not made good in the end, that products of positive numbers were less exact than SGEMM's; over less k
// they cost more additions and gain nothing. For bf16 products nothing is made good.
constexpr int promoted_depth(int planes) {
    return planes == 2 ? 64 : 16;
}
// An instruction covers 64 rows; a warpgroup issues one or two of them.
constexpr Rows kRows[] = {{128, 2, 1}, {64, 1, 1}, {256, 2, 1}, {192, 3, 1}, {128, 1, 1}, {64, 1, 2}, {128, 1, 2}};
constexpr int kColumns[] = {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256};

// Blocks along the right operand that share their tile of the left one, and along the left one that share their tile of the right one.
struct Sharing {
    int multicast_a, multicast_b;
};
constexpr Sharing kSharings[] = {{1, 1}, {2, 1}, {1, 2}};
// These are worth the cluster only where the L2 is asked for much, or where few rows are needed by all blocks.
constexpr Sharing kWideSharings[] = {{4, 1}, {1, 4}, {2, 2}, {4, 2}, {2, 4}};
constexpr std::int64_t kMostThinRows = 256;

double ceil_divide(double a, double b) {
    return std::ceil(a / b);
}

// As many stages as min_blocks blocks on an SM leave room for; and as many as fit beside all boxes in which a tile's results may leave at
// once or, where C is read, in which it may come early, and beside the widest ones; or, without boxes, beside rows as wide as they may be
// staged.
std::vector<int> stages_worth_trying(KernelConfig config, const KernelSignature& signature, const DeviceInfo& device) {
    const std::int64_t share =
        std::min<std::int64_t>(device.shared_bytes_per_block, device.shared_bytes_per_sm / config.min_blocks - wgmma::kReservedSharedBytes);
    config.stages = 0;
    const int most_boxes = wgmma::boxes_of_warp(config, signature);
    const int widest_box = wgmma::sum_columns_of_box(config, signature);
    const auto leaves_room = [&] {
        if (!wgmma::stores_boxes(config, signature)) return !wgmma::stages_narrow_rows(config, signature);
        return wgmma::boxes_of_warp(config, signature) == most_boxes && wgmma::sum_columns_of_box(config, signature) == widest_box;
    };
    std::vector<int> worth;
    for (config.stages = kMostStages; config.stages >= 2; --config.stages) {
        if (wgmma::shared_bytes(config, signature) > share) continue;
        const bool roomy = leaves_room();
        if (worth.empty() || roomy) worth.push_back(config.stages);
        if (roomy) break;
    }
    return worth;
}

// The operands that TMA can't bring as they are, and those that wgmma can't take as they lie.
int worth_padding(const GemmProblem& p, int swap_ab) {
    const KernelSignature s = signature_of(p);
    const int unaligned = (s.align_a < 16 ? 1 : 0) | (s.align_b < 16 ? 2 : 0);
    if (!is_k_major_only(s.type_a)) return unaligned;
    const int a = s.op_a == Operation::transpose ? 1 : 0;
    const int b = s.op_b == Operation::none ? 2 : 0;
    const bool takes_left = wgmma::left_from_registers({.swap_ab = swap_ab}, s);
    return unaligned | (swap_ab ? a : b) | (takes_left ? 0 : swap_ab ? b : a);
}

// The same tile with K in `split` parts, summed by clusters of `cluster` blocks and, where that leaves several, a second kernel.
KernelConfig wgmma_split(KernelConfig config, int split, int cluster) {
    config.split_k = split;
    config.cluster = cluster;
    // Clusters of parts are not walked over, so that the order of their tiles matters little.
    if (cluster > 1) config.raster = 0;
    return config;
}

// Configs worth a prediction, for every tile that the problem's shape may want; some may be invalid for it. None of them splits K.
std::vector<KernelConfig> wgmma_tiles(const GemmProblem& problem, const DeviceInfo& device, int planes) {
    std::vector<KernelConfig> configs;
    // tf32 takes a B whose rows run along N as the left operand only.
    const bool left_is_b = problem.compute == ComputeMode::tf32 && problem.op_b == Operation::none;
    const int row_elements = wgmma::kRowBytes / (planes > 1 ? 2 : size_of(problem.type_a));
    const auto add = [&](const Rows& rows, int block_n, int block_k, int min_blocks, int swap, int trim) {
        KernelConfig config{.family = family::wgmma,
                            .block_m = rows.block_m,
                            .block_n = block_n,
                            .block_k = block_k,
                            .vector_width = wgmma::vector_width(problem.type_a),
                            .boundary = boundary::hardware,
                            .min_blocks = min_blocks,
                            .swap_ab = swap,
                            .pack_ab = planes == 1 ? worth_padding(problem, swap) : 0,
                            .trim = trim,
                            .warps_m = rows.warps_m,
                            .warps_n = rows.warps_n,
                            .planes = planes,
                            .promote_k = planes > 1 ? promoted_depth(planes) : 0};
        // Strips of rows that lie badly take longer than what whole tiles gain: with one of 2049 columns 2047x2049x2051 of bf16 takes
        // 46 instead of 38 microseconds on an H200, where 1025x1024x1024, aligned, takes 5.7 instead of 6.9.
        if (trim != 0 && (planes > 1 || config.pack_ab != 0 || why_not_trimmed(problem, config))) return;
        const KernelSignature signature = main_signature(problem, config);
        const Extent main = main_extent(problem, config);
        const i64 left = swap ? main.columns : main.rows;
        const i64 right = swap ? main.rows : main.columns;
        const double tiles_left = ceil_divide(static_cast<double>(left), config.block_m);
        const double tiles_right = ceil_divide(static_cast<double>(right), config.block_n);
        const double tiles = tiles_left * tiles_right * static_cast<double>(problem.batch);
        const bool many = tiles > device.sm_count;
        // Tiles count as few however K is split.
        const double parts = std::max(1.0, std::floor(static_cast<double>(problem.k) / (kPhasesOfPart * block_k)));
        const bool few = 2 * tiles * parts < device.sm_count;
        const bool takes_turns = many && min_blocks == 1 && planes == 1 && !left_is_b && rows.warps_m * rows.warps_n == 1 && block_n >= 64;
        const auto add_sharing = [&](const Sharing& sharing) {
            const bool shares = sharing.multicast_a * sharing.multicast_b > 1;
            if (shares && (few || min_blocks > 1)) return;
            if (tiles_right < sharing.multicast_a || tiles_left < sharing.multicast_b) return;
            config.multicast_a = sharing.multicast_a;
            config.multicast_b = sharing.multicast_b;
            if (has_order_of_its_own(config, main)) configs.push_back(config);
        };
        for (config.ping_pong = 0; config.ping_pong <= (takes_turns ? 1 : 0); ++config.ping_pong) {
            for (const int stages : stages_worth_trying(config, signature, device)) {
                config.stages = stages;
                for (const int raster : kWgmmaRasters) {
                    if (raster != 0 && !many) continue;
                    config.raster = raster;
                    for (const Sharing& sharing : kSharings) add_sharing(sharing);
                }
                config.raster = 0;
                if (std::min(problem.m, problem.n) <= kMostThinRows || !rows_are_whole_lines(problem, planes))
                    for (const Sharing& sharing : kWideSharings) add_sharing(sharing);
            }
        }
    };
    for (const int swap : {0, 1}) {
        const i64 right = swap ? problem.m : problem.n;
        const double squares = ceil_divide(static_cast<double>(problem.m), wgmma::kRows) *
                               ceil_divide(static_cast<double>(problem.n), wgmma::kRows) * static_cast<double>(problem.batch);
        const bool small = squares < 2 * device.sm_count && problem.n >= wgmma::kRows;
        const bool many_swapped = swap && problem.m > kMostSwappedRows && !small && !left_is_b;
        if (many_swapped && problem.n < wgmma::kRows) continue;
        // Whole slabs of a right operand are brought whose rows run along the columns of the product; of bytes it is turned.
        const bool right_along_columns = swap ? problem.op_a == Operation::transpose : problem.op_b == Operation::none;
        const bool whole_slabs = right_along_columns && size_of(problem.type_a) > 1;
        const int narrowest = whole_slabs && planes == 1 ? row_elements : 8;
        for (const Rows& rows : kRows) {
            for (const int block_n : kColumns) {
                // Columns far beyond the matrix are wasted; narrow tiles of a wide one load the left operand again and again.
                if (block_n >= 2 * right && block_n > narrowest) continue;
                if (many_swapped && block_n % wgmma::kRows == 0) continue;
                if (block_n < 64 && right > i64{4} * block_n && !small) continue;
                // Fewer columns than a slab has are brought no sooner.
                if (whole_slabs && block_n < row_elements) continue;
                // Products of few rows are bound by memory, and the more blocks an SM holds, the more evenly they share it.
                const int most_blocks = swap ? 4 : 3;
                for (const int block_k : {row_elements, 2 * row_elements, 4 * row_elements}) {
                    if (block_k > wgmma::kDeepestTile) continue;
                    if (block_k > 2 * row_elements && rows.block_m + block_n > kWidestDeepTile) continue;
                    for (int min_blocks = 1; min_blocks <= most_blocks; ++min_blocks) {
                        for (const int trim : {0, 1}) add(rows, block_n, block_k, min_blocks, swap, trim);
                    }
                }
            }
        }
    }
    return configs;
}

}  // namespace

bool has_order_of_its_own(const KernelConfig& c, const Extent& extent) {
    if (c.raster == 0) return true;
    return 2 * wgmma::clusters_left(c, extent.rows, extent.columns) > c.raster && wgmma::clusters_right(c, extent.rows, extent.columns) > 1;
}

KernelConfig with_wgmma_boundary(KernelConfig config, const GemmProblem& problem) {
    // Looking for fewer missing rows costs more than they do.
    constexpr i64 worth_it = 8;
    const Extent main = main_extent(problem, config);
    const i64 missing = wgmma::missing_rows(config, main_signature(problem, config), main.rows, main.columns);
    config.boundary = missing >= worth_it ? boundary::peeled : boundary::hardware;
    return config;
}

bool suits_wgmma(const GemmProblem& p, const DeviceInfo& device) {
    return device.compute_capability() == 90 && !device.emulated &&
           (p.compute == ComputeMode::f32 || p.compute == ComputeMode::tf32 || p.compute == ComputeMode::s32);
}

std::vector<KernelConfig> wgmma_configs(const GemmProblem& p, const DeviceInfo& device) {
    std::vector<KernelConfig> configs;
    if (!suits_wgmma(p, device)) return configs;
    const auto add_tiles = [&](int planes) {
        for (const KernelConfig& config : wgmma_tiles(p, device, planes)) {
            const Extent main = main_extent(p, config);
            const std::int64_t tiles = wgmma::blocks(config, main.rows, main.columns, p.batch);
            for (const int split : split_choices(p, device, tiles, config.block_k))
                for (const int cluster : whole_cluster_choices(split, device))
                    configs.push_back(with_wgmma_boundary(wgmma_split(config, split, cluster), p));
        }
    };
    if (p.type_a == ElementType::f32 && p.compute != ComputeMode::tf32) {
        add_tiles(2);
        add_tiles(3);
    } else {
        add_tiles(1);
    }
    return configs;
}

}  // namespace tmm
