#include "generator/choice/sample_sizes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/plan/launch_plan.h"
#include "host/portable_math.h"

namespace tmm {
namespace {

// Predictions for another size count as less certain by this part for each doubling between the two, and where its kernels differ.
constexpr double kDoubtOfDoubling = 0.05;
// A config that takes so much longer than the best is of no use, however much longer it takes.
constexpr double kUseless = 1;
// All sizes are served well enough where none is farther than this from what is tuned for it.
constexpr double kNearEnough = 0.02;

// Sizes that stand for all: quarters of octaves, which are multiples of tiles, and the ones behind them, which begin another tile.
std::vector<std::int64_t> sizes_between(std::int64_t first, std::int64_t last) {
    std::set<std::int64_t> sizes{first, last};
    for (std::int64_t octave = 1; octave <= last && octave < (std::int64_t{1} << 60); octave *= 2)
        for (std::int64_t quarter = 4; quarter < 8; ++quarter)
            for (std::int64_t behind = 0; behind < 2; ++behind) {
                const std::int64_t size = octave * quarter / 4 + behind;
                if (first <= size && size <= last) sizes.insert(size);
            }
    return {sizes.begin(), sizes.end()};
}

struct Sampled {
    std::int64_t size;
    GemmProblem problem;
    KernelSignature signature;
    // What is predicted to be the fastest, and its time.
    KernelConfig config;
    double microseconds;
    // The part of the range that it stands for, in octaves.
    double weight;
};

std::vector<Sampled> sampled(std::int64_t first, std::int64_t last, const ProblemOfSize& problem_of, const DeviceInfo& device) {
    const std::vector<std::int64_t> sizes = sizes_between(first, last);
    std::vector<Sampled> samples;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const GemmProblem problem = problem_of(sizes[i]);
        const KernelConfig config = default_config(problem, device);
        const auto before = static_cast<double>(sizes[i > 0 ? i - 1 : i]);
        const auto after = static_cast<double>(sizes[i + 1 < sizes.size() ? i + 1 : i]);
        samples.push_back({.size = sizes[i],
                           .problem = problem,
                           .signature = signature_of(problem),
                           .config = config,
                           .microseconds = CostModel(problem, device).estimate(config),
                           .weight = portable::log2(after / before)});
    }
    return samples;
}

// How much one would lose at a size with what is tuned for another: the loss that is predicted, and the doubt about that.
double loss(const Sampled& at, const Sampled& tuned, const DeviceInfo& device) {
    const double doublings = std::abs(portable::log2(static_cast<double>(at.size) / static_cast<double>(tuned.size))) +
                             (at.signature == tuned.signature ? 0 : 1);
    const KernelConfig config = adapted(at.problem, tuned.problem, tuned.config);
    const bool serves = !rejection_reason(at.problem, config, device);
    const double longer = serves ? CostModel(at.problem, device).estimate(config) / at.microseconds - 1 : kUseless;
    return std::clamp(longer, 0.0, kUseless) + kDoubtOfDoubling * doublings;
}

}  // namespace

// The sizes are taken one by one, each the one that lessens the sum of all squared losses the most.
std::vector<std::int64_t> sample_sizes(std::int64_t first, std::int64_t last, const ProblemOfSize& problem_of, const DeviceInfo& device,
                                       std::size_t most) {
    const std::vector<Sampled> samples = sampled(first, last, problem_of, device);
    std::vector<std::vector<double>> losses(samples.size());
    for (std::size_t tuned = 0; tuned < samples.size(); ++tuned)
        for (const Sampled& at : samples) losses[tuned].push_back(loss(at, samples[tuned], device));

    constexpr double nothing_tuned = 10;
    std::vector<double> least(samples.size(), nothing_tuned);
    std::set<std::int64_t> chosen;
    while (chosen.size() < std::min(most, samples.size()) && *std::max_element(least.begin(), least.end()) > kNearEnough) {
        const auto squared = [](double x) { return x * x; };
        const auto sum_with = [&](const std::vector<double>& added) {
            double sum = 0;
            for (std::size_t i = 0; i < least.size(); ++i) sum += samples[i].weight * squared(std::min(least[i], added[i]));
            return sum;
        };
        const auto best =
            std::min_element(losses.begin(), losses.end(), [&](const auto& a, const auto& b) { return sum_with(a) < sum_with(b); });
        if (!chosen.insert(samples[static_cast<std::size_t>(best - losses.begin())].size).second) break;
        for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], (*best)[i]);
    }
    return {chosen.begin(), chosen.end()};
}

}  // namespace tmm
