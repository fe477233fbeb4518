// What a tuner knows of the problem that it is at: candidates, results, and what ended their measuring.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store/measurement.h"
#include "db/store/tuning_database.h"
#include "tuner/options/budget.h"
#include "tuner/search/candidates.h"
#include "tuner/search/problem_tuner.h"
#include "tuner/search/run_report.h"

namespace tmm {

struct SearchSession {
    const PendingProblem& open;
    // The candidates of the search, and the variants that are made of the fastest.
    std::vector<Candidate> candidates = {};
    // The candidates' predicted times in µs.
    std::vector<double> estimates = {};
    // Variants of those that are the fastest so far. Their kernels are compiled while the search goes on.
    std::vector<Candidate> expected_variants = {};
    bool may_vary = false;
    ProblemReport report;
    std::vector<std::optional<Measurement>> results = {};
    // Results that the database does not have yet.
    std::vector<CandidateResult> unsaved = {};
    // Number of times that each candidate's worker was ended from outside, and why those that are given up have no outcome: another run may
    // have more luck.
    std::vector<int> outside_kills = {};
    std::map<std::size_t, std::string> given_up = {};
    // Whether a run-off was ended from outside.
    bool disturbed = false;
    // Its own in the compiler's queue.
    int number = 0;
    Turn turn;
    // When it began, on its tuner's clock.
    double begun = 0;
    bool prepared = false;
    bool interrupted = false;
    bool cut = false;
    // Whether the problem's time was over while something ran.
    bool expired = false;
    // Says why the search ended before its last candidates, though nothing cut it short; empty where it did not.
    std::string ended = {};
    // Says why the problem can't be measured at all.
    std::string failure = {};
    // The best time among the candidates that passed, and the least wall-clock time that one of them took from request to reply.
    double best_us = 0;
    double best_wall = 0;

    const GemmProblem& problem() const { return open.shape.problem; }
    bool passed(std::size_t i) const { return results[i] && results[i]->outcome == Outcome::ok && results[i]->median_us > 0; }
    // Whether the default config, which every winner is compared with, has yet to be tried.
    bool default_is_open() const { return !results.empty() && !results.front() && !given_up.contains(0); }
    // Candidates that this run has measured, or given up.
    int tried() const { return report.measured_now + static_cast<int>(given_up.size()); }
    int outcomes() const {
        return static_cast<int>(std::count_if(results.begin(), results.end(), [](const auto& result) { return result.has_value(); }));
    }
};

}  // namespace tmm
