#include "tuner/search/problem_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/choice/cost_model.h"
#include "generator/text/text.h"
#include "tuner/search/earlier_decision.h"

namespace tmm {
namespace {

constexpr double kPoll_s = 0.1;
// The kernels of variants are compiled behind so many that the search needs next.
constexpr int kRankOfVariants = 8;
// The run-off's part of a problem's share, and the most that it is given where the last one took longer.
constexpr double kRunOffShare = 0.15;
constexpr double kMostOfShare = 0.4;

}  // namespace

ProblemSearch::ProblemSearch(SearchContext& its_context, PendingProblem& problem, int its_number, const Turn& its_turn)
    : context(its_context),
      pending(problem),
      number(its_number),
      turn(its_turn),
      is_rematch(problem.phase == Phase::rematch),
      cut(problem.left_out > 0),
      report{.shape = problem.shape, .rejections = problem.rejections},
      begun_(now()) {}

void ProblemSearch::add(const std::vector<Candidate>& added) {
    for (auto& known : known_measurements(context.database, problem(), added)) {
        // Trying to compile again is cheap.
        const bool may_pass_now = known && (known->outcome == Outcome::compile_failed || is_invalidated(problem(), *known));
        if (context.options.remeasure || is_rematch || may_pass_now) known.reset();
        results.push_back(std::move(known));
    }
    candidates.insert(candidates.end(), added.begin(), added.end());
    const CostModel model(problem(), context.worker.device());
    for (const Candidate& candidate : added) estimates.push_back(model.estimate(candidate.config));
    for (std::size_t i = candidates.size() - added.size(); i < candidates.size(); ++i)
        if (passed(i) && (best_us == 0 || results[i]->median_us < best_us)) best_us = results[i]->median_us;
    show_progress();
}

int ProblemSearch::outcomes() const {
    return static_cast<int>(std::count_if(results.begin(), results.end(), [](const auto& result) { return result.has_value(); }));
}

std::map<Outcome, int> ProblemSearch::failed() const {
    std::map<Outcome, int> counts;
    for (const auto& result : results)
        if (result && result->outcome != Outcome::ok) ++counts[result->outcome];
    return counts;
}

void ProblemSearch::keep(std::size_t index, Measurement m) {
    const Candidate& candidate = candidates[index];
    m.kernel_name = candidate.kernel_name;
    m.kernel_hash = candidate.kernel_hash;
    unsaved_.push_back({.config = candidate.config, .measurement = m});
    if (m.outcome == Outcome::crashed || m.outcome == Outcome::timed_out || m.outcome == Outcome::wrong_result)
        context.progress.note(fmt::format("{}: {} {}: {}", to_text(problem()), to_text(candidate.config), name_of(m.outcome), m.detail));
    results[index] = std::move(m);
    given_up.erase(index);
}

void ProblemSearch::save(const std::vector<Announcement>& announced) {
    if (unsaved_.empty() && announced.empty()) return;
    context.database.exchange(problem(), {}, unsaved_, announced);
    unsaved_.clear();
}

void ProblemSearch::give_up(std::size_t index, const std::string& why, bool again) {
    const KernelConfig& config = candidates[index].config;
    context.database.withdraw(problem(), config);
    if (!again) given_up[index] = why;
    context.progress.note(
        fmt::format("{}: {}; {} {}", to_text(problem()), why, to_text(config), again ? "runs again" : "is left to another run"));
}

Phase ProblemSearch::no_winner(std::string why) {
    report.decision.reason = std::move(why);
    return Phase::no_winner;
}

void ProblemSearch::request_kernels(const Candidate& candidate, int rank) const {
    for (const PlannedKernel* kernel : candidate.kernels) context.compiler.request(kernel->source, number, rank);
}

// Some kernels may have been dropped, with another problem that needs them, too: asked for one by one they would come behind all others.
void ProblemSearch::request_in_order(const std::vector<std::size_t>& indices) const {
    context.compiler.drop(number);
    for (std::size_t place = 0; place < indices.size(); ++place) request_kernels(candidates[indices[place]], static_cast<int>(place));
    for (const Candidate& variant : expected_variants) request_kernels(variant, kRankOfVariants);
}

void ProblemSearch::expect_variant(const Candidate& variant) {
    expected_variants.push_back(variant);
    request_kernels(variant, kRankOfVariants);
}

void ProblemSearch::wait_for_kernels() const {
    kernels_seen_ = context.compiler.wait_for_more(kernels_seen_, kPoll_s);
}

std::optional<Phase> ProblemSearch::compile(const KernelSource& source) const {
    for (const KernelIdentity identity = identity_of(source); !context.compiler.result(identity); wait_for_kernels()) {
        if (context.interrupt.requested()) return Phase::interrupted;
        if (left() <= 0) return Phase::out_of_time;
        context.compiler.request(source, number, 0);
    }
    return std::nullopt;
}

std::optional<Phase> ProblemSearch::compile(std::size_t index) const {
    for (const PlannedKernel* kernel : candidates[index].kernels)
        if (const auto end = compile(kernel->source)) return end;
    return std::nullopt;
}

double ProblemSearch::deadline() const {
    const double floor = context.options.deadline_floor > 0 ? context.options.deadline_floor : emulated() ? 60 : 10;
    return best_wall > 0 ? floor + 10 * best_wall : 6 * floor;
}

double ProblemSearch::left() const {
    return std::min(context.budget.left(), turn.most_seconds - seconds_since(turn.start));
}

double ProblemSearch::kept_for_run_off() const {
    return std::max(kRunOffShare * turn.share_seconds, std::min(context.run_off_seconds, kMostOfShare * turn.share_seconds));
}

// Until a candidate has passed and the default was tried, which every winner is compared with, the share does not end the search.
bool ProblemSearch::is_over(double kept_for_variants) const {
    if (left() <= 0) return true;
    const bool default_is_open = !results.empty() && !is_settled(0);
    if (best_us <= 0 || default_is_open) return false;
    const double part = 1 - kept_for_variants;
    const int tried = report.measured_now + static_cast<int>(given_up.size());
    if (turn.most_candidates > 0 && tried >= part * turn.most_candidates) return true;
    return turn.share_seconds > 0 && seconds_since(turn.start) > part * turn.share_seconds - kept_for_run_off();
}

void ProblemSearch::show_progress() const {
    context.progress.update(context.number, outcomes(), static_cast<int>(candidates.size()), best_us);
}

}  // namespace tmm
