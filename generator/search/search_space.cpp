#include "generator/search/search_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "generator/families/family.h"
#include "generator/families/misused_field.h"
#include "generator/families/naive.h"
#include "generator/plan/launch_plan.h"
#include "generator/search/cost_model.h"
#include "generator/search/search_choices.h"

namespace tmm {
namespace {

constexpr std::int64_t kLargestGrid = 2147483647;
// Most elements of a batch's matrix: more than any device has room for, and few enough that the bytes of whatever is made of them are a
// number.
constexpr double kMostElements = 0x1p46;
// Most registers that a thread may have.
constexpr int kMostRegisters = 255;
// Partial results beyond this cost more to write and read than the split can win.
constexpr std::int64_t kLargestWorkspace = std::int64_t{1} << 30;
// The depth that parts of K of FP32 products must have for each addition that their sums go through.
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

// How many candidates an effort allows.
struct Bounds {
    std::size_t least;
    std::size_t most;
    // Measuring time in microseconds, by the model.
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

    // Takes the best by the model, the leader first. Configs far behind the best are left out, and those for which there is no time.
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
        // than its share of the places: half or, where one family is nearly always the fastest, a fifth.
        const auto is_best = [&](const Family* family) { return family->product->is_at_its_best(problem_, device_); };
        const auto families = product_families();
        const std::size_t share = std::any_of(families.begin(), families.end(), is_best) ? 5 : 2;
        std::map<int, std::size_t> crowds;
        for (const Family* family : families)
            if (family->product->is_hard_to_compare(problem_)) crowds.emplace(family->number, 0);
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
            // On the emulated device the plainest config may be the fastest, whatever is predicted of it.
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
            const double doubt = product_of(c).doubt_of_ways;
            if (doubt == 0) continue;
            const auto [rows, columns] = tile_of_c(c);
            entry.estimate *= 1 + doubt * std::log2(++ways[{rows, columns, c.split_k, c.cluster}]);
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

// Do several threads share the products of one element of C?
bool sums_k_in_parts(const KernelConfig& c) {
    return product_of(c).shares_k || c.slice_k > 1 || c.split_k > 1 || c.stream_k != 0 || c.trim != 0;
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
    const char* const violation = violation_of(c, signature);
    return violation ? std::optional<std::string>(violation) : std::nullopt;
}

bool is_left_to_naive(const GemmProblem& p) {
    if (std::max({p.m, p.n, p.k, p.batch}) >= kLargestGrid) return true;
    return static_cast<double>(std::max({p.m * p.k, p.k * p.n, p.m * p.n})) * static_cast<double>(p.batch) > kMostElements;
}

std::optional<std::string> why_invalid(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    if (auto misused = find_misused_field(c)) return std::move(misused->why);
    const Product* const serving = family_of(c).product;
    if (!(serving && serving->serves_any_size) && is_left_to_naive(p))
        return "sizes of 2^31 and more, and 2^46 elements, are left to naive";
    const KernelSignature signature = main_signature(p, c);
    if (auto reason = why_no_kernel(c, signature)) return reason;
    if (!serving) return fmt::format("{} is a step of other families' plans, not a way to multiply", kFamilyNames[c.family]);
    if (c.overlap != 0 && c.overlap != 1) return "overlap is 0 or 1";
    if (c.overlap != 0 && !device.overlaps_kernels()) return "overlap needs compute capability 9.0";
    const Product& product = *serving;
    if (auto reason = product.why_not(p, c, device)) return reason;
    if (c.trim != 0)
        if (auto reason = why_not_trimmed(p, c)) return reason;
    const TileOfC tile = tile_of_c(c);
    if (c.boundary == boundary::exact && !divides(main_extent(p, c), p.k, tile.rows, tile.columns, c.block_k))
        return fmt::format("exact needs m, n and k to be multiples of {}, {} and {}", tile.rows, tile.columns, c.block_k);
    if (c.async_copy != 0 && device.compute_capability() < 80) return "cp.async needs compute capability 8.0";
    if (cluster_size_of(c) > device.largest_cluster())
        return device.largest_cluster() == 1 ? "clusters need compute capability 9.0"
                                             : fmt::format("the device takes clusters of up to {} blocks", device.largest_cluster());
    const std::int64_t shared = shared_bytes_of(c, signature);
    if (shared > device.shared_bytes_per_block)
        return fmt::format("needs more bytes of shared memory than a block may have ({}, of {})", shared, device.shared_bytes_per_block);
    if (c.min_blocks > 1 && (shared + 1024) * c.min_blocks > device.shared_bytes_per_sm)
        return fmt::format("min_blocks blocks do not fit an SM's shared memory ({} of {} bytes in {})", c.min_blocks, shared,
                           device.shared_bytes_per_sm);
    if (threads_of(c) * c.min_blocks > device.max_threads_per_sm)
        return fmt::format("min_blocks blocks have more threads than an SM takes ({} of {} threads, of {})", c.min_blocks, threads_of(c),
                           device.max_threads_per_sm);
    // The accumulators alone, before fragments and addresses; what ptxas needs beyond that shows as spills.
    const int accumulators = product.accumulators(c);
    const int register_limit = std::min(kMostRegisters, device.registers_per_sm / (threads_of(c) * c.min_blocks));
    if (accumulators + 24 > register_limit)
        return fmt::format("a thread's accumulators do not fit its registers ({} in {})", accumulators, register_limit);
    if (!product.serves_any_size) {
        if (p.m > 0 && p.n > 0) {
            const std::int64_t tiles_n = ceil_divide(c.swap_ab ? p.m : p.n, c.block_n);
            const std::int64_t tiles = ceil_divide(c.swap_ab ? p.n : p.m, c.block_m) * tiles_n;
            if (tiles > kLargestGrid / std::max<std::int64_t>(1, p.batch) / c.split_k) return "more blocks than a grid can hold (2^31 - 1)";
            if (c.raster > 0 && tiles_n > kLargestGrid / c.raster) return "raster bands would hold more blocks than a grid";
        }
        for (const EdgeProduct& edge : edge_products(p, c))
            if (blocks_of(edge.config, edge.extent.rows, edge.extent.columns, 1) > kLargestGrid / std::max<std::int64_t>(1, p.batch))
                return "more blocks for what is trimmed than a grid can hold (2^31 - 1)";
    }
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
    // A part's first product is rounded by itself, where FMAs round it with the sum so far. Where products are few, that is most of the
    // error: two parts of K = 2 have 1.41 times the loop's rms error where products cancel, two of 4 have 1.22 times, two of 8 have 1.12
    // times (simulated).
    if (p.k < kDepthForParts && sums_k_in_parts(c))
        return fmt::format("sums of {} products in parts err more than a loop of FMAs: K must be {} at least", p.k, kDepthForParts);
    // Planes err by the same however few products there are, and a loop errs less.
    if (p.k < kDepthForPlanes && c.planes > 1)
        return fmt::format("planes of floats err more than a loop of {} FMAs: K must be {} at least", p.k, kDepthForPlanes);
    // Where products' exponents differ widely, a loop rounds few of them. Adding up the parts of K then costs more than the shorter sums
    // spare, unless each part is eight times as deep as that chain: added up plainly, at K = 64 four parts have 1.02 times the loop's error
    // in norm over exponents from -60 to 60 and eight have 1.06 times; four parts of 32 have 0.95 times, and eight of 32 have 0.91 times
    // (simulated, 10^5 sums each).
    const std::int64_t additions = longest_sum_of_parts(p, c);
    const std::int64_t depth = depth_of_parts(p, c);
    if (depth >= kDepthPerAddition * additions) return std::nullopt;
    return fmt::format("{} parts of K of {} each err more than a loop of FMAs: they must be {} deep", c.split_k, depth,
                       kDepthPerAddition * additions);
}

bool has_tensor_core_kernels(const GemmProblem& problem, const DeviceInfo& device) {
    const auto families = product_families();
    return std::any_of(families.begin(), families.end(),
                       [&](const Family* family) { return family->product->uses_tensor_cores(problem, device); });
}

KernelConfig fallback_config(const GemmProblem&) {
    return plainest_config();
}

KernelConfig default_config(const GemmProblem& problem, const DeviceInfo& device, std::int64_t most_workspace) {
    if (is_left_to_naive(problem)) return fallback_config(problem);
    const CostModel model(problem, device);
    std::optional<KernelConfig> best;
    double best_estimate = 0;
    const auto consider = [&](const KernelConfig& config) {
        const double estimate = model.estimate(config);
        if ((best && estimate >= best_estimate) || workspace_estimate(problem, config, device) > static_cast<double>(most_workspace) ||
            why_invalid(problem, config, device) || why_inaccurate(problem, config))
            return;
        best = config;
        best_estimate = estimate;
    };
    for (const Family* family : product_families()) {
        const Product& product = *family->product;
        for (const KernelConfig& config : product.defaults(problem, device)) consider(model.with_better_overlap(config));
        if (!best || best->family != family->number) continue;
        for (const KernelConfig& variant : product.default_variants(*best)) consider(variant);
        if (product.is_unrivalled(problem, *best)) break;
    }
    return best ? *best : fallback_config(problem);
}

SearchSpace search_space(const GemmProblem& problem, const DeviceInfo& device, Effort effort) {
    Collector collector(problem, device);
    const bool is_too_large = is_left_to_naive(problem);
    for (const Family* family : product_families()) {
        if (is_too_large && !family->product->serves_any_size) continue;
        for (const Product::Candidate& candidate : family->product->candidates(problem, device))
            collector.add(candidate.config, candidate.doubt);
    }
    return collector.finish(default_config(problem, device), bounds_of(effort));
}

}  // namespace tmm
