#include "tuner/search/earlier_decision.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "generator/choice/validity.h"
#include "generator/compile/compile_attempts.h"
#include "generator/text/text.h"
#include "tuner/search/sampling.h"
#include "tuner/worker/worker_connection.h"

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

// Fewer multiplications may all be exact by chance.
constexpr double kNeverAllExact = 4096;

std::optional<double> number_after(const std::string& text, const std::string& words) {
    const auto at = text.rfind(words);
    if (at == std::string::npos) return std::nullopt;
    return std::strtod(text.c_str() + at + words.size(), nullptr);
}

// Whether a product of normal values neither overflows nor underflows when it is multiplied by the scalar.
bool is_harmless(double scalar) {
    return scalar == 0 || (std::fabs(scalar) >= 0.5 && std::fabs(scalar) <= 2);
}

// "… (normal values, alpha 30000, beta 0)".
bool hangs_on_scalars(const std::string& detail) {
    const auto alpha = number_after(detail, "(normal values, alpha ");
    const auto beta = number_after(detail, ", beta ");
    return alpha && beta && !(is_harmless(*alpha) && is_harmless(*beta));
}

// With alpha = 0 nothing was multiplied, and no error was seen. Sums of several real values are never all without an error.
bool multiplied_nothing(const GemmProblem& p, const Measurement& m) {
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    return p.k > 1 && work >= kNeverAllExact && m.error_ratio == 0;
}

// "its workspace of 4096 bytes does not fit in the device's memory", while others may have held that.
bool hangs_on_free_memory(const std::string& detail) {
    return detail.find("does not fit in the device's memory") != std::string::npos;
}

// "quarantined: announced 2 times without a result", by a tuner that somebody killed.
bool hangs_on_a_killed_tuner(const std::string& detail) {
    return detail.starts_with("quarantined: announced ");
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
    if (report.state != ProblemState::decided || report.decision.config == earlier.config) return false;
    return report.old_winner_us <= 0 || report.old_winner_us > (1 + kUpset) * report.decision.median_us;
}

void take_earlier(TuningDatabase& database, const PendingProblem& problem, std::vector<Candidate> candidates, const DeviceInfo& device,
                  KernelBook& book, ProblemReport& report) {
    const TuningDatabase::Decision& decision = *problem.earlier;
    report.state = ProblemState::decided_before;
    report.cut_before = decision.search_hash.ends_with(kCutSuffix);
    report.decision = decision;
    report.rejections = problem.rejections;
    // The winner may be a variant that the search did not have.
    candidates.push_back(make_candidate(problem.shape.problem, decision.config, device, book));
    const auto known = known_measurements(database, problem.shape.problem, candidates);
    for (const auto& measured : known)
        if (measured && measured->outcome != Outcome::ok) ++report.failed[measured->outcome];
    if (known.back()) report.error_ratio = known.back()->error_ratio;
}

bool is_invalidated(const GemmProblem& problem, const Measurement& measurement) {
    switch (measurement.outcome) {
        case Outcome::wrong_result:
        case Outcome::inaccurate: return hangs_on_scalars(measurement.detail);
        case Outcome::compile_failed: return !blames_source(measurement.detail);
        case Outcome::crashed: return names_outside_signal(measurement.detail) || hangs_on_a_killed_tuner(measurement.detail);
        case Outcome::exceeds_limits: return hangs_on_free_memory(measurement.detail);
        case Outcome::ok: return multiplied_nothing(problem, measurement);
        default: return false;
    }
}

}  // namespace tmm
