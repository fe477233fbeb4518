#include "tuner/search/warm_start.h"

#include <algorithm>

#include "db/store/records.h"
#include "db/store/verified_times.h"
#include "generator/choice/validity.h"
#include "tmm/vocabulary/problem_fields.h"

namespace tmm {
namespace {

constexpr std::size_t kFastest = 8;

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

}  // namespace tmm
