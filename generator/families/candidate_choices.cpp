#include "generator/families/candidate_choices.h"

#include <algorithm>
#include <cstdint>

#include "tmm/families/simt/rules.h"

namespace tmm {

namespace {

// Waves count as whole where blocks fill so large a part, or more, of the places that filled_places() counts.
constexpr double kWholeWaves = 0.96;

}  // namespace

double filled_places(std::int64_t blocks, const DeviceInfo& device) {
    const std::int64_t sms = std::max(1, device.sm_count);
    const std::int64_t places = (blocks + sms - 1) / sms * sms;
    return static_cast<double>(blocks) / static_cast<double>(std::max<std::int64_t>(1, places));
}

std::vector<int> cluster_choices(int split, const DeviceInfo& device) {
    int size = 1;
    while (2 * size <= device.largest_cluster() && split % (2 * size) == 0) size *= 2;
    return size > 1 ? std::vector<int>{1, size} : std::vector<int>{1};
}

std::vector<int> whole_cluster_choices(int split, const DeviceInfo& device) {
    return split > 1 && split <= device.largest_cluster() ? std::vector<int>{1, split} : std::vector<int>{1};
}

std::vector<int> split_choices(const GemmProblem& problem, const DeviceInfo& device, std::int64_t tiles, int block_k) {
    const std::int64_t deepest = std::min<std::int64_t>(512, problem.k / (4LL * block_k));
    const std::int64_t widest = std::max<std::int64_t>(1, 8LL * device.sm_count / std::max<std::int64_t>(1, tiles));
    std::vector<int> splits{1};
    const auto add = [&](std::int64_t split) {
        if (split > 1 && split <= deepest && split <= 2 * widest && std::find(splits.begin(), splits.end(), split) == splits.end())
            splits.push_back(static_cast<int>(split));
    };
    for (int split = 2; split <= 512; split *= 2) add(split);
    for (const int split : {3, 5, 6, 7})
        if (filled_places(tiles * split, device) >= kWholeWaves) add(split);
    for (const int waves : {1, 2, 3, 4, 6}) add(static_cast<std::int64_t>(waves) * device.sm_count / std::max<std::int64_t>(1, tiles));
    return splits;
}

int band_choice(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t batch, const DeviceInfo& device) {
    constexpr int band = 8;
    return tiles_m * tiles_n * batch > 4LL * device.sm_count && tiles_m > band && tiles_n > band ? band : 0;
}

bool divides(const Extent& part, std::int64_t k, int block_m, int block_n, int block_k) {
    return part.rows % block_m == 0 && part.columns % block_n == 0 && k % block_k == 0;
}

KernelConfig with_edges_where_needed(const GemmProblem& problem, const GemmProblem&, const KernelConfig& config) {
    if (config.boundary != boundary::exact) return config;
    const TileSize tile = tile_of_c(config);
    KernelConfig adapted = config;
    if (!divides(main_extent(problem, config), problem.k, tile.rows, tile.columns, config.block_k)) adapted.boundary = boundary::peeled;
    return adapted;
}

namespace {

bool suits(KernelConfig config, int order) {
    config.fma_order = order;
    return simt::order_violation(config) == nullptr;
}

int likely_order(const KernelConfig& c, bool a_along_k, bool b_along_k) {
    if (a_along_k) return fma_order::one_row;
    if (b_along_k) return fma_order::one_column;
    if (simt::brings_by_tma(c) && c.thread_m >= 8) return fma_order::one_column;
    if (c.thread_m > c.thread_n) return c.thread_n >= 8 ? fma_order::four_columns : fma_order::one_row;
    if (c.thread_m < c.thread_n) return fma_order::one_column;
    return c.thread_m >= 8 ? fma_order::one_column : fma_order::two_columns;
}

}  // namespace

int likely_order(const KernelConfig& config, const KernelSignature& signature) {
    const int order =
        likely_order(config, simt::layout_a(config, signature).lines_along_k, simt::layout_b(config, signature).lines_along_k);
    return suits(config, order) ? order : fma_order::two_rows;
}

std::vector<KernelConfig> with_other_orders(const KernelConfig& config) {
    std::vector<KernelConfig> others;
    for (int order = 0; order < fma_order::count; ++order) {
        if (order == config.fma_order || !suits(config, order)) continue;
        others.push_back(config);
        others.back().fma_order = order;
    }
    return others;
}

std::optional<std::string> why_no_tma(const GemmProblem& p, const DeviceInfo& device, bool stores) {
    if (!device.has_tma()) return "TMA needs compute capability 9.0 or more";
    if (p.pointers) return "the copy engine takes matrices of a batch one behind the other";
    constexpr std::int64_t longest = std::int64_t{1} << 40;
    if (std::max(p.lda, p.stride_a) >= longest / size_of(p.type_a) || std::max(p.ldb, p.stride_b) >= longest / size_of(p.type_b) ||
        (stores && std::max(p.ldc, p.stride_c) >= longest / size_of(p.type_c)))
        return "TMA takes rows and matrices less than 2^40 bytes apart";
    // TMA's coordinates end at 2^31; a tile may begin, or end, 2^12 beyond the matrix.
    constexpr std::int64_t last = (std::int64_t{1} << 31) - (1 << 12);
    if (std::max({p.m, p.n, p.k, p.batch}) > last) return "TMA's coordinates end at 2^31";
    return std::nullopt;
}

}  // namespace tmm
