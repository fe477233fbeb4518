// What was measured of tuned problems, as far as it says how fast their candidates are for other sizes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/machine/device_info.h"
#include "generator/problem/problem_forms.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// The verified candidates of a tuned problem, as its WinnerRow spells it, on the winners' device; the fastest come first. Nothing where
// they can't be read now. Thread-safe.
using CandidateSource = std::function<std::optional<std::vector<MeasuredCandidate>>(const GemmProblem& tuned)>;

// One measured candidate.
struct NearTime {
    KernelConfig config;
    // What it took for its own problem.
    double measured_us = 0;
    // How many times as long as predicted.
    double ratio = 1;
};

// All that is known of one problem.
struct NeighbourMeasurements {
    // The fastest come first. It is empty where nothing was measured here, as for winners that ship with tmm.
    std::vector<NearTime> candidates;
    double median_ratio = 1;
};

// Remembers what it has read. Thread-safe.
class NeighbourMeasurementsBook {
public:
    NeighbourMeasurementsBook(CandidateSource source, DeviceInfo device) : source_(std::move(source)), device_(std::move(device)) {}
    // The result is null where they can't be read now, which is not remembered.
    std::shared_ptr<const NeighbourMeasurements> of(const GemmProblem& tuned);

private:
    struct Hash {
        std::size_t operator()(const GemmProblem& problem) const { return static_cast<std::size_t>(hash_of(problem)); }
    };
    std::optional<NeighbourMeasurements> read(const GemmProblem& tuned) const;

    CandidateSource source_;
    DeviceInfo device_;
    std::mutex mutex_;
    std::unordered_map<GemmProblem, std::shared_ptr<const NeighbourMeasurements>, Hash> known_;
};

}  // namespace tmm
