#include "tuner/search/warm_start.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "generator/choice/validity.h"
#include "tmm/vocabulary/problem_fields.h"

namespace tmm {
namespace {

constexpr std::size_t kFastest = 8;

double own_time_of(const Candidate& candidate, const std::vector<MeasuredCandidate>& rows) {
    const MeasuredCandidate* earlier = nullptr;
    const MeasuredCandidate* todays = nullptr;
    // The rows are ordered newest first.
    for (const MeasuredCandidate& row : rows) {
        if (row.measurement.outcome != Outcome::ok || row.measurement.median_us <= 0 || row.config != candidate.config) continue;
        const MeasuredCandidate*& place = row.measurement.kernel_hash == candidate.kernel_hash ? todays : earlier;
        if (place == nullptr) place = &row;
    }
    if (earlier != nullptr) return earlier->measurement.median_us;
    return todays != nullptr ? todays->measurement.median_us : std::numeric_limits<double>::infinity();
}

bool differ_in_variant_alone(KernelConfig a, const KernelConfig& b) {
    a.overlap = b.overlap;
    a.fma_order = b.fma_order;
    return a == b;
}

// If nothing is known of a config, its time is that of the fastest config with the other overlap or another order of its products.
double time_of(const Candidate& candidate, const std::vector<MeasuredCandidate>& rows) {
    double time = own_time_of(candidate, rows);
    if (time < std::numeric_limits<double>::infinity()) return time;
    for (const MeasuredCandidate& row : rows)
        if (row.measurement.outcome == Outcome::ok && row.measurement.median_us > 0 &&
            differ_in_variant_alone(row.config, candidate.config))
            time = std::min(time, row.measurement.median_us);
    return time;
}

}  // namespace

std::vector<GemmProblem> problems_alike(const GemmProblem& problem) {
    std::vector<GemmProblem> alike = {problem};
    // Kernels of types of one width differ in their multiplying instruction alone.
    for (int value = 0; value < kElementTypes.offered; ++value) {
        const auto type = static_cast<ElementType>(value);
        if (type == problem.type_a || size_of(type) != size_of(problem.type_a)) continue;
        GemmProblem other = problem;
        for (ElementType* of : {&other.type_a, &other.type_b, &other.type_c})
            if (*of == problem.type_a) *of = type;
        alike.push_back(other);
    }
    return alike;
}

std::vector<KernelConfig> warm_start_configs(const GemmProblem& problem, const std::vector<KernelConfig>& winners,
                                             const std::vector<MeasuredCandidate>& rows, const DeviceInfo& device) {
    std::vector<KernelConfig> configs;
    const auto add = [&](const KernelConfig& config) {
        // Rows of other compute modes are among them.
        if (std::find(configs.begin(), configs.end(), config) == configs.end() && !rejection_reason(problem, config, device))
            configs.push_back(config);
    };
    for (const KernelConfig& winner : winners) add(winner);
    const std::size_t most = configs.size() + kFastest;
    for (const MeasuredCandidate& row : verified_times(rows)) {
        if (configs.size() == most) break;
        add(row.config);
    }
    for (const bool same_model : {true, false}) {
        for (const GemmProblem& alike : problems_alike(problem)) {
            for (const WinnerRow& winner : shipped_winners()) {
                if (winner.problem == alike && winner.compute_capability == device.compute_capability() &&
                    (winner.device == device.name) == same_model)
                    add(winner.config);
            }
        }
    }
    return configs;
}

std::size_t put_first(const std::vector<KernelConfig>& configs, std::vector<Candidate>& candidates, const GemmProblem& problem,
                      const DeviceInfo& device, KernelBook& book) {
    if (candidates.empty()) return 0;
    auto next = candidates.begin() + 1;
    for (const KernelConfig& config : configs) {
        if (config == candidates.front().config) continue;
        const auto place = std::find_if(next, candidates.end(), [&](const Candidate& candidate) { return candidate.config == config; });
        if (place == candidates.end())
            next = candidates.insert(next, make_candidate(problem, config, device, book));
        else
            std::rotate(next, place, place + 1);
        ++next;
    }
    return static_cast<std::size_t>(next - candidates.begin()) - 1;
}

std::vector<Candidate> fastest_measured(const std::vector<Candidate>& predicted, const std::vector<Candidate>& all,
                                        const std::vector<MeasuredCandidate>& rows) {
    // All candidates that may be chosen, the predicted first.
    std::vector<Candidate> eligible = predicted;
    for (const Candidate& candidate : all) {
        const auto same = [&](const Candidate& other) { return other.config == candidate.config; };
        if (std::none_of(eligible.begin(), eligible.end(), same)) eligible.push_back(candidate);
    }
    std::vector<double> times;
    for (const Candidate& candidate : eligible) times.push_back(time_of(candidate, rows));
    if (!times.empty()) times.front() = 0;
    std::vector<std::size_t> order(eligible.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    order.resize(predicted.size());
    std::sort(order.begin(), order.end());
    std::vector<Candidate> chosen;
    for (const std::size_t i : order) chosen.push_back(eligible[i]);
    return chosen;
}

}  // namespace tmm
