#include "tuner/search/variants.h"

#include <algorithm>

#include "generator/families/family.h"

namespace tmm {
namespace {

constexpr std::size_t kVaried = 4;
// A candidate is near within this factor of the best time. An order is worth a few per cent, at times a tenth.
constexpr double kNear = 1.15;

// Neither overlap nor the order of tiles makes another kernel.
bool same_kernel(KernelConfig a, const KernelConfig& b) {
    a.overlap = b.overlap;
    a.raster = b.raster;
    return a == b;
}

std::vector<KernelConfig> variants_of(const GemmProblem& problem, const KernelConfig& config) {
    return other_arrangements(problem, config);
}

}  // namespace

std::vector<KernelConfig> variants_of_fastest(const GemmProblem& problem, const std::vector<Candidate>& candidates,
                                              const std::vector<std::optional<Measurement>>& results) {
    const std::vector<std::size_t> order = fastest_first(results);
    std::vector<KernelConfig> fastest;
    const auto take = [&](std::size_t i) {
        if (results[i]->median_us > kNear * results[order.front()]->median_us) return;
        const KernelConfig& config = candidates[i].config;
        const auto taken = [&](const KernelConfig& other) { return same_kernel(other, config); };
        if (!variants_of(problem, config).empty() && std::none_of(fastest.begin(), fastest.end(), taken)) fastest.push_back(config);
    };
    for (const std::size_t i : order)
        if (fastest.size() < kVaried) take(i);
    // What is predicted to be the fastest may be slower only for the order of its tiles: with another one the default of 4096x4096x1024 tn
    // bf16 takes 48 instead of 57 microseconds on an H100.
    if (!results.empty() && passed(results[0])) take(0);
    std::vector<KernelConfig> variants;
    for (const KernelConfig& config : fastest) {
        for (const KernelConfig& variant : variants_of(problem, config)) {
            bool known = std::find(variants.begin(), variants.end(), variant) != variants.end();
            for (std::size_t i = 0; i < candidates.size() && !known; ++i) known = results[i] && candidates[i].config == variant;
            if (!known) variants.push_back(variant);
        }
    }
    return variants;
}

std::vector<KernelConfig> variants_of_first(const GemmProblem& problem, const std::vector<Candidate>& candidates) {
    // They are as if all were measured, each a little slower than the one before.
    std::vector<std::optional<Measurement>> as_predicted(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i)
        as_predicted[i] = Measurement{.outcome = Outcome::ok, .median_us = 1 + 1e-6 * static_cast<double>(i)};
    return variants_of_fastest(problem, candidates, as_predicted);
}

bool may_have_variants(const GemmProblem& problem, const std::vector<Candidate>& candidates) {
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const Candidate& candidate) { return !variants_of(problem, candidate.config).empty(); });
}

}  // namespace tmm
