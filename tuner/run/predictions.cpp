#include "tuner/run/predictions.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "base/text/side_by_side.h"
#include "generator/choice/predicted_config.h"

namespace tmm {
namespace {

// Seconds that a decision and its row take.
constexpr double kSecondsToStore = 0.0005;

std::size_t thread_count() {
    return std::max(std::thread::hardware_concurrency(), 1u);
}

}  // namespace

double seconds_to_predict(std::size_t problems, double seconds_each) {
    return static_cast<double>(problems) * (seconds_each / static_cast<double>(thread_count()) + kSecondsToStore);
}

void predict(const std::vector<ProblemReport*>& unreached, const DeviceInfo& device, TuningDatabase& database) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < unreached.size(); i = next++)
            unreached[i]->decision.config = default_config(unreached[i]->shape.problem, device);
    };
    run_side_by_side(std::min(thread_count(), unreached.size()), work);

    std::vector<std::pair<GemmProblem, TuningDatabase::Decision>> decisions;
    for (ProblemReport* report : unreached) {
        const GemmProblem& problem = report->shape.problem;
        report->state = ProblemState::predicted;
        const std::string why = report->decision.reason.empty() ? "the budget ended before its turn" : report->decision.reason;
        report->decision = {.config = report->decision.config, .reason = "predicted, not measured: " + why, .predicted = true};
        const auto known = database.decision(problem);
        if (known && (!known->predicted || known->config == report->decision.config)) continue;
        decisions.emplace_back(problem, report->decision);
    }
    database.decide(decisions, {});
}

}  // namespace tmm
