// Prints, for each problem that a database has searched, how much slower the config is that the models put first than the best that was
// measured; both of the same measured candidates. The last lines are geometric means by type and compute mode. A change of a model or of a
// profile shows its worth by it, without a GPU.
// Usage: prediction_ratios DATABASE [PROFILE'S GPU]      (the GPU whose profile predicts; else the measured one)
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

// Fewer say nothing of an order.
constexpr std::size_t kFewestCandidates = 8;

struct Candidate {
    KernelConfig config;
    double measured_us;
    double predicted_us;
};

std::vector<Candidate> candidates_of(TuningDatabase& database, const GemmProblem& problem, const DeviceInfo& device) {
    const CostModel model(problem, device);
    std::vector<Candidate> candidates;
    for (const auto& [config, measurement, measured_at] : database.measurements(problem)) {
        if (measurement.outcome != Outcome::ok || measurement.median_us <= 0) continue;
        const auto same = [&config = config](const Candidate& other) { return other.config == config; };
        if (std::any_of(candidates.begin(), candidates.end(), same)) continue;
        if (rejection_reason(problem, config, device)) continue;
        candidates.push_back({config, measurement.median_us, model.estimate(config)});
    }
    // The search measures the likeliest first where configs are predicted alike.
    std::reverse(candidates.begin(), candidates.end());
    return candidates;
}

// Logarithms; the last shows how well times themselves are predicted.
struct Mean {
    double first = 0;
    double of_four = 0;
    double predicted = 0;
    int count = 0;
};

void print_ratios(const std::string& file, const std::string& profile) {
    TuningDatabase database(file, TuningDatabase::Mode::read_write);
    std::map<std::string, Mean> means;
    for (const WinnerRow& row : database.winners()) {
        DeviceInfo kept;
        kept.name = row.device;
        kept.compute_capability_major = row.compute_capability / 10;
        kept.compute_capability_minor = row.compute_capability % 10;
        kept.sm_count = row.sm_count;
        database.set_environment({.device = kept});
        if (!profile.empty()) kept.name = profile;
        const std::optional<DeviceInfo> device = remembered_device(kept);
        if (!device) continue;
        std::vector<Candidate> candidates = candidates_of(database, row.problem, *device);
        if (candidates.size() < kFewestCandidates) continue;

        const auto faster = [](const Candidate& a, const Candidate& b) { return a.measured_us < b.measured_us; };
        const auto likelier = [](const Candidate& a, const Candidate& b) { return a.predicted_us < b.predicted_us; };
        std::stable_sort(candidates.begin(), candidates.end(), likelier);
        const Candidate& best = *std::min_element(candidates.begin(), candidates.end(), faster);
        const Candidate& best_of_four = *std::min_element(candidates.begin(), candidates.begin() + 4, faster);
        const Candidate& first = candidates.front();
        fmt::print(
            "{:.3f} {:.3f} {}, {} candidates\n      first {:8.2f} us, predicted {:8.2f}: {}\n      best  {:8.2f} us, predicted {:8.2f}: "
            "{}\n",
            first.measured_us / best.measured_us, best_of_four.measured_us / best.measured_us, to_text(row.problem), candidates.size(),
            first.measured_us, first.predicted_us, to_text(first.config), best.measured_us, best.predicted_us, to_text(best.config));
        Mean& mean = means[fmt::format("{} {} {}", row.device, name_of(row.problem.type_a), name_of(row.problem.compute))];
        mean.first += std::log(first.measured_us / best.measured_us);
        mean.of_four += std::log(best_of_four.measured_us / best.measured_us);
        mean.predicted += std::log(best.predicted_us / best.measured_us);
        ++mean.count;
    }
    for (const auto& [name, mean] : means)
        fmt::print(
            "{}: {} problems, the first predicted takes {:.4f} times the best measured, the best of four {:.4f}; the best is predicted "
            "{:.3f} times as long\n",
            name, mean.count, std::exp(mean.first / mean.count), std::exp(mean.of_four / mean.count),
            std::exp(mean.predicted / mean.count));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        fmt::print(stderr, "usage: prediction_ratios DATABASE [GPU]\n");
        return 1;
    }
    try {
        print_ratios(argv[1], argc > 2 ? argv[2] : "");
    } catch (const std::exception& error) {
        fmt::print(stderr, "prediction_ratios: {}\n", error.what());
        return 1;
    }
}
