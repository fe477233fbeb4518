#include "generator/choice/search_space.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/plan/resolve.h"
#include "host/portable_math.h"

namespace tmm {
namespace {

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

// Tells whether a config was there before. It keeps references to them.
class DistinctConfigs {
public:
    // most: how many may be added.
    explicit DistinctConfigs(std::size_t most) : slots_(std::bit_ceil(most + most / 4 + 1)) { configs_.reserve(most); }

    // Returns false where the config was added before.
    bool add(const KernelConfig& config) {
        static_assert(std::has_unique_object_representations_v<KernelConfig>);
        const XXH64_hash_t hash = XXH3_64bits(&config, sizeof config);
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        std::size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot].place != 0; slot = (slot + 1) & (slots_.size() - 1))
            if (slots_[slot].tag == tag && *configs_[slots_[slot].place - 1] == config) return false;
        configs_.push_back(&config);
        slots_[slot] = {.tag = tag, .place = static_cast<std::uint32_t>(configs_.size())};
        return true;
    }

private:
    // place: counted from 1; 0 where the slot is free. tag: a part of the hash, which spares most comparisons.
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t place = 0;
    };
    std::vector<const KernelConfig*> configs_;
    std::vector<Slot> slots_;
};

// It keeps references to all configs.
class Collector {
public:
    // most: how many configs may be added.
    Collector(const GemmProblem& problem, const DeviceInfo& device, std::size_t most) : problem_(problem), device_(device), known_(most) {
        rejections_.reserve(most);
    }

    // doubt: how much slower than predicted the config is taken to be when candidates are ranked.
    void add(KernelConfig& config, double doubt) {
        // What overlap is better follows from all else, and no config is invalid for it.
        config.overlap = 0;
        if (!known_.add(config)) return;
        auto resolved = resolve(problem_, config, device_);
        if (auto* const rejection = std::get_if<Rejection>(&resolved)) return reject(config, std::move(rejection->reason));
        Schedule& schedule = std::get<Schedule>(resolved);
        if (auto reason = why_promise_broken(schedule, device_)) return reject(config, std::move(*reason));
        const PredictedConfig better = with_better_overlap(std::move(schedule), device_);
        found_.push_back(
            {.config_without_overlap = &config, .overlap = better.config.overlap, .estimate = better.time.total() * (1 + doubt)});
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
        const auto is_best = [&](const Family* family) { return rank_of(*family, problem_, device_).is_at_its_best; };
        const std::size_t share = std::any_of(families().begin(), families().end(), is_best) ? 5 : 2;
        std::map<int, std::size_t> crowds;
        for (const Family* family : families())
            if (rank_of(*family, problem_, device_).is_hard_to_compare) crowds.emplace(family->number, 0);
        std::set<int> heard{leader.family};
        const auto why_left_out = [&](const KernelConfig& config, bool near, std::size_t its_crowd) -> std::string {
            if (places >= bounds.least && !near) return "predicted to be too much slower than the best";
            if (places >= limit) return "not among the best predictions";
            if (share * its_crowd >= limit) return fmt::format("not among {}'s best predictions", kFamilyNames[config.family]);
            return {};
        };
        std::size_t first_of_families = space.candidates.size();
        for (const Entry& entry : found_) {
            const KernelConfig config = entry.config();
            if (config == leader) continue;
            const bool near = entry.estimate <= bounds.slack * best;
            // On the emulated device the plainest config may be the fastest, whatever is predicted of it.
            const bool first_of_family = (near || device_.emulated) && heard.insert(config.family).second;
            const auto crowd = crowds.find(config.family);
            std::string reason = first_of_family ? "" : why_left_out(config, near, crowd != crowds.end() ? crowd->second : 0);
            if (!reason.empty()) {
                reject(config, std::move(reason));
                continue;
            }
            const auto before = static_cast<std::ptrdiff_t>(space.candidates.size());
            take(config, first_of_family);
            if (crowd != crowds.end()) ++crowd->second;
            if (!first_of_family) continue;
            // A search that ends before its last candidates has measured it.
            const auto first = space.candidates.begin() + static_cast<std::ptrdiff_t>(first_of_families);
            std::rotate(first, space.candidates.begin() + before, space.candidates.end());
            first_of_families += space.candidates.size() - static_cast<std::size_t>(before);
        }
        space.rejections = std::move(rejections_);
        space.reasons = std::move(reasons_);
        return space;
    }

private:
    struct Entry {
        const KernelConfig* config_without_overlap;
        int overlap;
        double estimate;

        KernelConfig config() const {
            KernelConfig config = *config_without_overlap;
            config.overlap = overlap;
            return config;
        }
    };
    void reject(const KernelConfig& config, std::string why) {
        const auto [known, is_new] = reason_of_.try_emplace(std::move(why));
        if (is_new) known->second = *reasons_->insert(without_numbers(known->first)).first;
        rejections_.push_back(RejectedConfig{.config = config, .reason = known->second});
    }
    // Equal estimates stay in the order of their configs.
    void sort_found() {
        std::vector<std::pair<double, std::size_t>> order;
        order.reserve(found_.size());
        for (std::size_t i = 0; i < found_.size(); ++i) order.emplace_back(found_[i].estimate, i);
        std::sort(order.begin(), order.end());
        std::vector<Entry> sorted;
        sorted.reserve(found_.size());
        for (const auto& [estimate, i] : order) sorted.push_back(found_[i]);
        found_ = std::move(sorted);
    }
    // Different tiles of C differ more than ways to come to the same one.
    void doubt_ways() {
        std::map<std::array<int, 4>, int> ways;
        for (Entry& entry : found_) {
            const KernelConfig& c = *entry.config_without_overlap;
            const double doubt = rank_of(family_of(c), problem_, device_).doubt_of_ways;
            if (doubt == 0) continue;
            const auto [rows, columns] = tile_of_c(c);
            entry.estimate *= 1 + doubt * portable::log2(++ways[{rows, columns, c.split_k, c.cluster}]);
        }
        sort_found();
    }
    const GemmProblem& problem_;
    const DeviceInfo& device_;
    DistinctConfigs known_;
    std::vector<Entry> found_;
    std::vector<RejectedConfig> rejections_;
    std::shared_ptr<std::set<std::string>> reasons_ = std::make_shared<std::set<std::string>>();
    // The reasons of sentences that have numbers.
    std::unordered_map<std::string, std::string_view> reason_of_;
};

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

std::map<std::string, int> count_by_reason(const std::vector<RejectedConfig>& rejections) {
    std::map<std::string_view, int> counts;
    for (const RejectedConfig& rejection : rejections) ++counts[rejection.reason];
    return {counts.begin(), counts.end()};
}

SearchSpace search_space(const GemmProblem& problem, const DeviceInfo& device, Effort effort) {
    const bool is_too_large = is_left_to_naive(problem);
    std::vector<std::vector<Search::Candidate>> candidates;
    std::size_t count = 0;
    for (const Family* family : families()) {
        if (is_too_large && !family->traits.serves_any_size) continue;
        candidates.push_back(family->search.candidates(problem, device));
        count += candidates.back().size();
    }
    Collector collector(problem, device, count);
    for (auto& of_family : candidates)
        for (Search::Candidate& candidate : of_family) collector.add(candidate.config, candidate.doubt);
    return collector.finish(default_config(problem, device), bounds_of(effort));
}

}  // namespace tmm
