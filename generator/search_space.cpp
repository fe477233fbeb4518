#include "generator/search_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "generator/cost_model.h"
#include "generator/launch_plan.h"
#include "generator/misused_field.h"
#include "generator/search_choices.h"
#include "generator/search_space_fma.h"
#include "generator/search_space_mma.h"
#include "generator/search_space_skinny.h"
#include "generator/search_space_wgmma.h"
#include "tmm/rules.h"

namespace tmm {
namespace {

constexpr std::int64_t kLargestGrid = 2147483647;
// Of a batch's matrix: more than any device has room for, and few enough that bytes of whatever is made of them are a number.
constexpr double kMostElements = 0x1p46;
// Of a thread.
constexpr int kMostRegisters = 255;
// Partial results beyond this cost more to write and read than the split can win.
constexpr std::int64_t kLargestWorkspace = std::int64_t{1} << 30;
// Of the parts of K of FP32 products, for each addition that their sums go through.
constexpr std::int64_t kDepthPerAddition = 8;
// The least K that FP32 products may sum in parts, and that may be split into planes.
constexpr std::int64_t kDepthForParts = 16;
constexpr std::int64_t kDepthForPlanes = 64;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

bool multiplies_floats(const GemmProblem& p) {
    return p.type_a == ElementType::f32;
}

// Of what its threads can have, the registers that a kernel wants that surely does not spill. What a search tries may want more.
constexpr double kSurelyFits = 1.0;

// Of rows or columns: gemv may be faster than tensor cores.
constexpr std::int64_t kVeryFew = 4;

// A later pipeline of mma counts as this much slower, so that many tiles are tried before many pipelines of one tile.
constexpr double kPipelineDoubt = 0.04;

// The same of wgmma's ways to come to one tile of C, each time that their number doubles.
constexpr double kWayDoubt = 0.03;

// How many candidates an effort allows.
struct Bounds {
    std::size_t least;
    std::size_t most;
    // Of measuring time, by the model.
    double microseconds;
    // Predictions beyond this multiple of the best are not worth their time.
    double slack;
    // So many of the best are measured with overlap and without, beyond the others' places: it takes no compiling.
    std::size_t both_ways;
};

Bounds bounds_of(Effort effort) {
    switch (effort) {
        case Effort::quick: return Bounds{.least = 12, .most = 16, .microseconds = 1e6, .slack = 2.0, .both_ways = 8};
        case Effort::normal: return Bounds{.least = 96, .most = 512, .microseconds = 8e6, .slack = 2.5, .both_ways = 64};
        case Effort::full: break;
    }
    return Bounds{.least = 192, .most = 2048, .microseconds = 60e6, .slack = 4.0, .both_ways = 512};
}

bool suits_wgmma(const GemmProblem& p, const DeviceInfo& device) {
    return device.compute_capability() == 90 && !device.emulated && (p.compute == ComputeMode::f32 || p.compute == ComputeMode::tf32);
}

class Collector {
public:
    Collector(const GemmProblem& problem, const DeviceInfo& device) : problem_(problem), device_(device), model_(problem, device) {}

    // doubt: how much slower than predicted the config is taken to be when candidates are ranked.
    void add(KernelConfig config, double doubt = 0) {
        config = model_.with_better_overlap(config);
        if (!known_.insert(values_of(config)).second) return;
        auto reason = why_invalid(problem_, config, device_);
        if (!reason) reason = why_inaccurate(problem_, config);
        if (reason) {
            reject(config, std::move(*reason));
            return;
        }
        found_.push_back(Entry{.config = config, .estimate = model_.estimate(config) * (1 + doubt)});
    }

    // The best by the model, the leader first. Those far behind the best are left out, and those for which there is no time.
    SearchSpace finish(const KernelConfig& leader, const Bounds& bounds) {
        sort_found();
        doubt_ways();
        SearchSpace space;
        std::size_t places = 0;
        const auto take = [&](const KernelConfig& config, bool leads) {
            space.candidates.push_back(config);
            if ((++places > bounds.both_ways && !leads) || !device_.overlaps_kernels()) return;
            space.candidates.push_back(config);
            space.candidates.back().overlap = 1 - config.overlap;
        };
        take(leader, true);
        const double best = found_.empty() ? 0 : found_.front().estimate;
        // What measuring one candidate takes: some twenty runs and the work around them.
        const auto affordable = static_cast<std::size_t>(bounds.microseconds / (6e3 + 16 * best));
        const std::size_t limit = std::clamp(affordable, bounds.least, bounds.most);
        // Predictions of different families compare badly: the best of each that comes near is a candidate, and none of these takes more
        // than its share of the places, half or, beside wgmma, where they are rarely the fastest but with very few rows, a fifth.
        const bool beside_wgmma =
            suits_wgmma(problem_, device_) && !multiplies_floats(problem_) && std::min(problem_.m, problem_.n) > kVeryFew;
        const std::size_t share = beside_wgmma ? 5 : 2;
        std::map<int, std::size_t> crowds{{family::mma, 0}, {family::gemv, 0}, {family::skinny, 0}};
        if (multiplies_floats(problem_) && problem_.compute != ComputeMode::tf32) crowds.emplace(family::wgmma, 0);
        std::set<int> heard{leader.family};
        const auto why_left_out = [&](const Entry& entry, bool near, std::size_t its_crowd) -> std::string {
            if (places >= bounds.least && !near)
                return fmt::format("predicted to be too much slower than the best ({:.1f} times)", entry.estimate / best);
            if (places >= limit) return fmt::format("not among the best predictions ({} of them)", limit);
            if (share * its_crowd >= limit)
                return fmt::format("not among {}'s best predictions ({} of them)", kFamilyNames[entry.config.family],
                                   (limit + share - 1) / share);
            return {};
        };
        std::size_t first_of_families = space.candidates.size();
        for (const Entry& entry : found_) {
            if (entry.config == leader) continue;
            const bool near = entry.estimate <= bounds.slack * best;
            // On the emulated device the plainest may be the fastest, whatever is predicted of it.
            const bool first_of_family = (near || device_.emulated) && heard.insert(entry.config.family).second;
            const auto crowd = crowds.find(entry.config.family);
            std::string reason = first_of_family ? "" : why_left_out(entry, near, crowd != crowds.end() ? crowd->second : 0);
            if (!reason.empty()) {
                reject(entry.config, std::move(reason));
                continue;
            }
            const auto before = static_cast<std::ptrdiff_t>(space.candidates.size());
            take(entry.config, first_of_family);
            if (crowd != crowds.end()) ++crowd->second;
            if (!first_of_family) continue;
            // A search that ends before its last candidates has measured it.
            const auto first = space.candidates.begin() + static_cast<std::ptrdiff_t>(first_of_families);
            std::rotate(first, space.candidates.begin() + before, space.candidates.end());
            first_of_families += space.candidates.size() - static_cast<std::size_t>(before);
        }
        space.rejections = std::move(rejections_);
        return space;
    }

private:
    struct Entry {
        KernelConfig config;
        double estimate;
    };
    void reject(const KernelConfig& config, std::string why) {
        std::string reason = without_numbers(why);
        rejections_.push_back(Rejection{.config = config, .reason = std::move(reason), .detail = std::move(why)});
    }
    using Values = std::array<int, kParameterCount>;
    static Values values_of(const KernelConfig& config) {
        Values values{};
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = config.*kParameters[i].member;
        return values;
    }
    void sort_found() {
        std::stable_sort(found_.begin(), found_.end(), [](const Entry& a, const Entry& b) { return a.estimate < b.estimate; });
    }
    // Different tiles of C differ more than ways to come to the same one.
    void doubt_ways() {
        std::map<std::array<int, 4>, int> ways;
        for (Entry& entry : found_) {
            const KernelConfig& c = entry.config;
            if (c.family != family::wgmma) continue;
            const auto [rows, columns] = tile_of_c(c);
            entry.estimate *= 1 + kWayDoubt * std::log2(++ways[{rows, columns, c.split_k, c.cluster}]);
        }
        sort_found();
    }
    const GemmProblem& problem_;
    const DeviceInfo& device_;
    CostModel model_;
    std::set<Values> known_;
    std::vector<Entry> found_;
    std::vector<Rejection> rejections_;
};

void add_mma(Collector& collector, const GemmProblem& p, const DeviceInfo& device) {
    const KernelSignature signature = signature_of(p);
    for (const MmaTile& tile : mma_tiles()) {
        const std::int64_t tiles_m = ceil_divide(p.m, tile.block_m);
        const std::int64_t tiles_n = ceil_divide(p.n, tile.block_n);
        const std::int64_t tiles = tiles_m * tiles_n * p.batch;
        double doubt = 0;
        for (const MmaPipeline& pipeline : mma_pipelines(mma_copies_async(signature))) {
            KernelConfig config = mma_config(tile, pipeline, signature, device);
            // It would spill.
            if (mma_registers(config, signature) > kMostRegisters) continue;
            if (divides(Extent{.rows = p.m, .columns = p.n}, p.k, tile.block_m, tile.block_n, pipeline.block_k))
                config.boundary = boundary::exact;
            config.raster = band_choice(tiles_m, tiles_n, p.batch, device);
            for (const int split : split_choices(p, device, tiles, pipeline.block_k)) {
                config.split_k = split;
                collector.add(config, doubt);
            }
            doubt += kPipelineDoubt;
        }
    }
}

// Calls visit with every config of family wgmma that is worth a prediction.
template <class Visit>
void for_each_wgmma(const GemmProblem& p, const DeviceInfo& device, Visit&& visit) {
    if (!suits_wgmma(p, device)) return;
    const auto visit_tiles = [&](int planes) {
        for (const KernelConfig& config : wgmma_tiles(p, device, planes)) {
            const Extent main = main_extent(p, config);
            const std::int64_t tiles = blocks(config, main.rows, main.columns, p.batch);
            for (const int split : split_choices(p, device, tiles, config.block_k)) {
                for (const int cluster : whole_cluster_choices(split, device))
                    visit(with_wgmma_boundary(wgmma_split(config, split, cluster), p));
            }
        }
    };
    if (multiplies_floats(p) && p.compute != ComputeMode::tf32) {
        visit_tiles(2);
        visit_tiles(3);
    } else {
        visit_tiles(1);
    }
}

// stores: it brings results to C as well.
std::optional<std::string> why_no_tma(const GemmProblem& p, bool stores) {
    constexpr std::int64_t longest = std::int64_t{1} << 40;
    if (std::max(p.lda, p.stride_a) >= longest / size_of(p.type_a) || std::max(p.ldb, p.stride_b) >= longest / size_of(p.type_b) ||
        (stores && std::max(p.ldc, p.stride_c) >= longest / size_of(p.type_c)))
        return "TMA takes rows and matrices less than 2^40 bytes apart";
    // Its coordinates; a tile may begin, or end, so far beyond.
    constexpr std::int64_t last = (std::int64_t{1} << 31) - (1 << 12);
    if (std::max({p.m, p.n, p.k, p.batch}) > last) return "TMA's coordinates end at 2^31";
    return std::nullopt;
}

bool is_step_only(int family) {
    switch (family) {
        case family::reduce:
        case family::pack:
        case family::pad:
        case family::scan:
        case family::planes:
        case family::rescue:
        case family::fixup: return true;
    }
    return false;
}

// Do several threads share the products of one element of C?
bool sums_k_in_parts(const KernelConfig& c) {
    return c.family == family::gemv || c.family == family::skinny || c.slice_k > 1 || c.split_k > 1 || c.stream_k != 0 || c.trim != 0;
}

void add_teaching_families(Collector& collector, const GemmProblem& p) {
    collector.add(KernelConfig{.family = family::naive, .block_m = 8, .block_n = 32});
    if (!multiplies_floats(p)) return;
    for (const int width : {32, 16, 8, 4}) {
        for (const int mode : {boundary::exact, boundary::guarded}) {
            if (mode == boundary::guarded && divides(Extent{.rows = p.m, .columns = p.n}, p.k, width, width, width)) continue;
            collector.add(KernelConfig{.family = family::tiled, .block_m = width, .block_n = width, .block_k = width, .boundary = mode});
        }
    }
}

}  // namespace

std::string without_numbers(std::string_view sentence) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto is_of_name = [&](char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (const auto open = sentence.rfind(" ("); open != std::string_view::npos && sentence.ends_with(')'))
        if (std::any_of(sentence.begin() + static_cast<std::ptrdiff_t>(open), sentence.end(), is_digit))
            sentence = sentence.substr(0, open);
    std::string text;
    for (std::size_t i = 0; i < sentence.size();) {
        if (!is_digit(sentence[i]) || (i > 0 && is_of_name(sentence[i - 1]))) {
            text += sentence[i++];
            continue;
        }
        std::size_t end = i;
        const auto goes_on = [&] {
            return is_digit(sentence[end]) ||
                   ((sentence[end] == '.' || sentence[end] == '^') && end + 1 < sentence.size() && is_digit(sentence[end + 1]));
        };
        while (end < sentence.size() && goes_on()) ++end;
        const bool is_name = end < sentence.size() && is_of_name(sentence[end]);
        text += is_name ? std::string(sentence.substr(i, end - i)) : "…";
        i = end;
    }
    return text;
}

std::map<std::string, int> count_by_reason(const std::vector<Rejection>& rejections) {
    std::map<std::string, int> counts;
    for (const Rejection& rejection : rejections) ++counts[rejection.reason];
    return counts;
}

std::optional<std::string> why_no_kernel(const KernelConfig& c, const KernelSignature& signature) {
    if (auto misused = find_misused_field(c)) return std::move(misused->why);
    const char* const violation = first_violation(c, signature);
    return violation ? std::optional<std::string>(violation) : std::nullopt;
}

bool is_left_to_naive(const GemmProblem& p) {
    if (std::max({p.m, p.n, p.k, p.batch}) >= kLargestGrid) return true;
    return static_cast<double>(std::max({p.m * p.k, p.k * p.n, p.m * p.n})) * static_cast<double>(p.batch) > kMostElements;
}

std::optional<std::string> why_invalid(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    if (auto misused = find_misused_field(c)) return std::move(misused->why);
    if (c.family != family::naive && is_left_to_naive(p)) return "sizes of 2^31 and more, and 2^46 elements, are left to naive";
    const KernelSignature signature = main_signature(p, c);
    if (auto reason = why_no_kernel(c, signature)) return reason;
    if (is_step_only(c.family)) return fmt::format("{} is a step of other families' plans, not a way to multiply", kFamilyNames[c.family]);
    if (c.overlap != 0 && c.overlap != 1) return "overlap is 0 or 1";
    if (c.overlap != 0 && !device.overlaps_kernels()) return "overlap needs compute capability 9.0";
    if (c.trim != 0) {
        if (c.family != family::simt && c.family != family::wgmma) return "trim is for tiles of simt and wgmma";
        if (auto reason = why_not_trimmed(p, c)) return reason;
    }
    const TileOfC tile = tile_of_c(c);
    if (c.boundary == boundary::exact && !divides(main_extent(p, c), p.k, tile.rows, tile.columns, c.block_k))
        return fmt::format("exact needs m, n and k to be multiples of {}, {} and {}", tile.rows, tile.columns, c.block_k);
    if (c.async_copy != 0 && device.compute_capability() < 80) return "cp.async needs compute capability 8.0";
    if (c.planes > 1) {
        if (!multiplies_floats(p)) return "planes are what f32 operands are split into";
        if (p.compute != ComputeMode::f32) return "products of planes serve compute=f32 alone; f32_strict takes FP32 FMAs only";
    }
    if (c.family == family::wgmma && (device.emulated || device.compute_capability() != 90)) return "wgmma needs compute capability 9.0";
    if (is_brought_by_tma(c)) {
        if (!device.has_tma()) return "TMA needs compute capability 9.0 or more";
        if (auto reason = why_no_tma(p, c.family == family::wgmma)) return reason;
    }
    if (cluster_size(c) > device.largest_cluster())
        return device.largest_cluster() == 1 ? "clusters need compute capability 9.0"
                                             : fmt::format("the device takes clusters of up to {} blocks", device.largest_cluster());
    const std::int64_t shared = shared_bytes(c, signature);
    if (shared > device.shared_bytes_per_block)
        return fmt::format("needs more bytes of shared memory than a block may have ({}, of {})", shared, device.shared_bytes_per_block);
    if (c.min_blocks > 1 && (shared + 1024) * c.min_blocks > device.shared_bytes_per_sm)
        return fmt::format("min_blocks blocks do not fit an SM's shared memory ({} of {} bytes in {})", c.min_blocks, shared,
                           device.shared_bytes_per_sm);
    if (threads(c) * c.min_blocks > device.max_threads_per_sm)
        return fmt::format("min_blocks blocks have more threads than an SM takes ({} of {} threads, of {})", c.min_blocks, threads(c),
                           device.max_threads_per_sm);
    if (c.family == family::mma && device.compute_capability() < 80) return "mma.sync of 16 x 8 x 16 needs compute capability 8.0";
    // The accumulators alone, before fragments and addresses; what ptxas needs beyond that shows as spills.
    const bool tiles_of_threads = c.family == family::simt || c.family == family::skinny;
    const int accumulators = tiles_of_threads ? c.thread_m * c.thread_n : c.family == family::mma ? mma::accumulators(c) : 0;
    const int register_limit = std::min(kMostRegisters, device.registers_per_sm / (threads(c) * c.min_blocks));
    if (accumulators + 24 > register_limit)
        return fmt::format("a thread's accumulators do not fit its registers ({} in {})", accumulators, register_limit);
    if (c.family != family::naive) {
        if (p.m > 0 && p.n > 0) {
            const std::int64_t tiles_n = ceil_divide(c.swap_ab ? p.m : p.n, c.block_n);
            const std::int64_t tiles = ceil_divide(c.swap_ab ? p.n : p.m, c.block_m) * tiles_n;
            if (tiles > kLargestGrid / std::max<std::int64_t>(1, p.batch) / c.split_k) return "more blocks than a grid can hold (2^31 - 1)";
            if (c.raster > 0 && tiles_n > kLargestGrid / c.raster) return "raster bands would hold more blocks than a grid";
        }
        for (const EdgeProduct& edge : edge_products(p, c))
            if (blocks(edge.config, edge.extent.rows, edge.extent.columns, 1) > kLargestGrid / std::max<std::int64_t>(1, p.batch))
                return "more blocks for what is trimmed than a grid can hold (2^31 - 1)";
    }
    if (c.family == family::simt && pack::packs_beside(c))
        if (auto reason = why_not_packed_beside(p, c, device)) return reason;
    if (c.stream_k != 0 && phase_line_on(p, c, device).tiles == 0) return "stream_k has no tiles to share: they make whole waves";
    if (c.split_k > 1 && c.split_k > p.k) return "more parts than K has elements";
    const double workspace = workspace_estimate(p, c, device);
    if (workspace > static_cast<double>(kLargestWorkspace))
        return fmt::format("needs more MiB of workspace than a plan may have (split_k={}, stream_k={} and pack_ab={}: {:.0f}, of {})",
                           c.split_k, c.stream_k, c.pack_ab, workspace / (1 << 20), kLargestWorkspace >> 20);
    return std::nullopt;
}

std::optional<std::string> why_inaccurate(const GemmProblem& p, const KernelConfig& c) {
    if (!multiplies_floats(p) || p.compute == ComputeMode::tf32) return std::nullopt;
    // A part's first product is rounded by itself, where FMAs round it with the sum so far. Of few products that is most of the error: two
    // parts of K = 2 have 1.41 times the loop's rms error where products cancel, two of 4 1.22 times, two of 8 1.12 times (simulated).
    if (p.k < kDepthForParts && sums_k_in_parts(c))
        return fmt::format("sums of {} products in parts err more than a loop of FMAs: K must be {} at least", p.k, kDepthForParts);
    // Planes err by the same however few products there are, and a loop errs less.
    if (p.k < kDepthForPlanes && c.planes > 1)
        return fmt::format("planes of floats err more than a loop of {} FMAs: K must be {} at least", p.k, kDepthForPlanes);
    // Of products whose exponents differ widely a loop rounds few. Adding up the parts of K then costs more than the shorter sums spare,
    // unless each is eight times as deep as that chain: added up plainly, at K = 64 four parts have 1.02 times the loop's error in norm
    // over exponents from -60 to 60 and eight 1.06 times, four of 32 have 0.95 times, eight of 32 0.91 times (simulated, 10^5 sums each).
    const std::int64_t additions = longest_sum_of_parts(p, c);
    const std::int64_t depth = depth_of_parts(p, c);
    if (depth >= kDepthPerAddition * additions) return std::nullopt;
    return fmt::format("{} parts of K of {} each err more than a loop of FMAs: they must be {} deep", c.split_k, depth,
                       kDepthPerAddition * additions);
}

bool has_tensor_core_kernels(const GemmProblem& problem, const DeviceInfo& device) {
    return suits_wgmma(problem, device) || (is_16_bit(problem.type_a) && device.compute_capability() >= 80);
}

KernelConfig fallback_config(const GemmProblem&) {
    return KernelConfig{.family = family::naive, .block_m = 8, .block_n = 32};
}

KernelConfig default_config(const GemmProblem& problem, const DeviceInfo& device, std::int64_t most_workspace) {
    if (is_left_to_naive(problem)) return fallback_config(problem);
    const CostModel model(problem, device);
    std::optional<KernelConfig> best;
    double best_estimate = 0;
    const auto consider = [&](const KernelConfig& config) {
        // Nobody has seen whether it spills.
        if (config.family == family::simt && simt_register_need(config, main_signature(problem, config), device) > kSurelyFits) return;
        const double estimate = model.estimate(config);
        if ((best && estimate >= best_estimate) || workspace_estimate(problem, config, device) > static_cast<double>(most_workspace) ||
            why_invalid(problem, config, device) || why_inaccurate(problem, config))
            return;
        best = config;
        best_estimate = estimate;
    };
    // Bands change little; only the best tile is looked at with each.
    for_each_wgmma(problem, device, [&](const KernelConfig& config) {
        if (config.raster == 0) consider(model.with_better_overlap(config));
    });
    if (best && best->cluster == 1) {
        for (KernelConfig config = *best; const int raster : {8, 16}) {
            config.raster = raster;
            consider(config);
        }
    }
    // What tensor cores fed by TMA multiply as it is, nothing else multiplies as fast, but with very few rows.
    if (best && best->planes == 1 && best->pack_ab == 0 && std::min(problem.m, problem.n) > kVeryFew) return *best;
    // Tiny products are launches, whatever is done in them.
    consider(model.with_better_overlap(fallback_config(problem)));
    if (multiplies_floats(problem))
        for (const KernelConfig& config : simt_configs(problem, device)) consider(model.with_better_overlap(config));
    for (const KernelConfig& config : skinny_configs(problem, device)) consider(model.with_better_overlap(config));
    for (const KernelConfig& config : gemv_configs(problem, device)) consider(model.with_better_overlap(config));
    if (is_16_bit(problem.type_a)) {
        const KernelSignature signature = signature_of(problem);
        const MmaPipeline& pipeline = mma_pipelines(mma_copies_async(signature)).front();
        for (const MmaTile& tile : mma_tiles()) {
            KernelConfig config = mma_config(tile, pipeline, signature, device);
            if (mma_registers(config, signature) > kMostRegisters) continue;
            const std::int64_t tiles = ceil_divide(problem.m, config.block_m) * ceil_divide(problem.n, config.block_n) * problem.batch;
            for (const int split : split_choices(problem, device, tiles, config.block_k)) {
                config.split_k = split;
                consider(model.with_better_overlap(config));
            }
        }
    }
    return best ? *best : fallback_config(problem);
}

SearchSpace search_space(const GemmProblem& problem, const DeviceInfo& device, Effort effort) {
    Collector collector(problem, device);
    const auto add = [&](const std::vector<KernelConfig>& configs) {
        for (const KernelConfig& config : configs) collector.add(config);
    };
    add_teaching_families(collector, problem);
    if (is_left_to_naive(problem)) return collector.finish(fallback_config(problem), bounds_of(effort));
    if (multiplies_floats(problem)) add(simt_configs(problem, device));
    add(skinny_configs(problem, device));
    add(gemv_configs(problem, device));
    for_each_wgmma(problem, device, [&](const KernelConfig& config) { collector.add(config); });
    if (is_16_bit(problem.type_a)) add_mma(collector, problem, device);
    return collector.finish(default_config(problem, device), bounds_of(effort));
}

}  // namespace tmm
