#include "tuner/search/earlier_decision.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "generator/choice/validity.h"
#include "generator/text/text.h"
#include "tuner/search/certainty.h"
#include "tuner/search/invalidated_result.h"

namespace tmm {
namespace {

// How much faster than an old winner another must be to be looked behind.
constexpr double kUpset = 0.03;

// Whether a decision was made without knowing the default config, the first one, or from results that say nothing.
bool rests_on_nothing(const GemmProblem& problem, const std::vector<std::optional<Measurement>>& known) {
    if (!known.empty() && known.front() && known.front()->outcome == Outcome::compile_failed) return true;
    return std::any_of(known.begin(), known.end(), [&](const auto& result) { return result && is_invalidated(problem, *result); });
}

// Whether other sizes are to be judged by this one, and it has fewer results than its own search ends with: it was listed by itself before.
bool has_few_for_others(TuningDatabase& database, const PendingProblem& problem, Effort effort) {
    if (!problem.shape.is_sample_size) return false;
    std::set<std::string> measured;
    for (const MeasuredCandidate& row : database.measurements(problem.shape.problem)) measured.insert(fields_text(row.config));
    const auto of_search = std::count_if(problem.candidates.begin(), problem.candidates.end(),
                                         [](const Candidate& candidate) { return candidate.order != kOutsideSearch; });
    const Certainty certainty = certainty_of(effort);
    const auto asked = certainty.seconds > 0 ? std::min<std::ptrdiff_t>(of_search, least_results(certainty, true)) : of_search;
    return std::ssize(measured) < asked;
}

}  // namespace

std::optional<TuningDatabase::Decision> earlier_decision(TuningDatabase& database, const GemmProblem& problem, const DeviceInfo& device) {
    auto decision = database.decision(problem);
    return decision && !decision->predicted && !why_invalid(problem, decision->config, device) ? decision : std::nullopt;
}

bool suffices(const TuningDatabase::Decision& decision, const TuningOptions& options) {
    const bool cut = decision.search_hash.ends_with(kCutSuffix);
    const auto effort = effort_of(decision.search_hash);
    if (decision.search_hash.ends_with(kOpenSuffix)) return false;
    return !options.remeasure && decision.origin == "user" && (!cut || options.budget_seconds > 0) && effort && *effort >= options.effort;
}

ReusableResult reusable_result_of(TuningDatabase& database, const PendingProblem& problem, const TuningOptions& options,
                                  const DeviceInfo& device, KernelBook& book) {
    if (rests_on_nothing(problem.shape.problem, known_measurements(database, problem.shape.problem, problem.candidates)))
        return ReusableResult::open;
    if (has_few_for_others(database, problem, options.effort)) return ReusableResult::open;
    const std::string& hash = problem.earlier->search_hash;
    const auto effort = effort_of(hash);
    const std::string today = *effort == options.effort
                                  ? problem.search_hash
                                  : search_hash(*effort, make_candidates(problem.shape.problem, *effort, device, book, kAllCandidates));
    return hash == today ? ReusableResult::counts : ReusableResult::races;
}

bool is_upset(const ProblemReport& report, const TuningDatabase::Decision& earlier) {
    if (report.state != ProblemState::decided || report.config == earlier.config) return false;
    return report.old_winner_us <= 0 || report.old_winner_us > (1 + kUpset) * report.median_us;
}

void take_earlier(TuningDatabase& database, const PendingProblem& problem, std::vector<Candidate> candidates, const DeviceInfo& device,
                  KernelBook& book, ProblemReport& report) {
    const TuningDatabase::Decision& decision = *problem.earlier;
    report.state = ProblemState::decided_before;
    report.cut_before = decision.search_hash.ends_with(kCutSuffix);
    report.config = decision.config;
    report.median_us = decision.median_us;
    report.default_us = decision.default_us;
    report.runner_up = decision.runner_up;
    report.runner_up_us = decision.runner_up_us;
    report.candidates = decision.candidates;
    report.rejections = problem.rejections;
    report.reason = decision.reason;
    // The winner may be a variant that the search did not have.
    candidates.push_back(make_candidate(problem.shape.problem, decision.config, device, book));
    const auto known = known_measurements(database, problem.shape.problem, candidates);
    for (const auto& measured : known)
        if (measured && measured->outcome != Outcome::ok) ++report.failed[measured->outcome];
    if (known.back()) report.error_ratio = known.back()->error_ratio;
}

}  // namespace tmm
