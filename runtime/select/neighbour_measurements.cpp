#include "runtime/select/neighbour_measurements.h"

#include <utility>

#include "base/median.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/validity.h"

namespace tmm {
namespace {

// Problems that are remembered; a program that multiplies more kinds of sizes than that reads some of them again.
constexpr std::size_t kMostKnown = 256;

}  // namespace

std::shared_ptr<const NeighbourMeasurements> NeighbourMeasurementsBook::of(const GemmProblem& tuned) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = known_.find(tuned); found != known_.end()) return found->second;
    }
    // It is read without the lock: two threads may both do it.
    std::optional<NeighbourMeasurements> read_now = read(tuned);
    if (!read_now) return nullptr;
    auto times = std::make_shared<const NeighbourMeasurements>(*std::move(read_now));
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMostKnown) known_.clear();
    return known_.emplace(tuned, std::move(times)).first->second;
}

std::optional<NeighbourMeasurements> NeighbourMeasurementsBook::read(const GemmProblem& tuned) const {
    NeighbourMeasurements times;
    if (!source_) return times;
    const std::optional<std::vector<MeasuredCandidate>> candidates = source_(tuned);
    if (!candidates) return std::nullopt;
    const CostModel model(tuned, device_);
    std::vector<double> ratios;
    for (const MeasuredCandidate& candidate : *candidates) {
        const double measured = candidate.measurement.median_us;
        // Anything may stand in a database.
        if (measured <= 0 || why_invalid(tuned, candidate.config, device_)) continue;
        ratios.push_back(measured / model.estimate(candidate.config));
        times.candidates.push_back({.config = candidate.config, .measured_us = measured, .ratio = ratios.back()});
    }
    if (ratios.empty()) return times;
    times.median_ratio = median(std::move(ratios));
    return times;
}

}  // namespace tmm
