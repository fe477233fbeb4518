// A problem counts as near where types, operations and model of device are the same, the config is valid for the shape, and the shape is
// few doublings away. A difference in what the kernel's text depends on besides (alignment, beta, batch) counts as one doubling, because
// another kernel was measured then. Tiles that fill the SMs with one shape leave half of them idle with the next: each candidate that was
// measured nearby is judged by what it is predicted to take here, times how much longer than predicted it took there. Of a winner without
// its candidates nothing is known beside; it must be among what is predicted to be fast here. Another card's winner of the very product
// comes before all of these, and its winners of near ones come after them: cards of one architecture differ by their rates alone.
#include "runtime/select/selection.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text/text_table.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/families/product_problem.h"
#include "generator/machine/device_info.h"
#include "generator/plan/launch_plan.h"
#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/text.h"
#include "host/portable_math.h"
#include "tmm/vocabulary/problem_fields.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {
namespace {

constexpr double kOtherKernelPenalty = 1;
// What an epilogue does takes little of a kernel's time, so that the winner of the same shape serves, whatever follows the sums; the closer
// its epilogue the better.
constexpr double kOtherEpiloguePenalty = 0.01;
// A winner is followed up to so many times the best prediction. Nine winners of near problems beyond that were measured on an H200: they
// took 1.28 times as long as the best, on the average, and what is predicted to be the fastest took 1.12 times as long.
constexpr double kWorthFollowing = 1.05;
// Another card's winner of the very product serves, unless by the profiles it gets so many times slower beside the guess. Among 47 winners
// that an H100 and an H200 have of each other's recorded shapes that was at most 1.25; they take 1.012 times as long as the fastest config
// recorded, where guesses took 1.057 times (tests/runtime/test_other_device_models.cpp).
constexpr double kCarriesOver = 1.3;
// So many of the nearest problems are looked at, by their winners or by their candidates. What was measured farther away counts as slower
// by this part for each doubling. Where 307 problems that were searched on an H100 are chosen for without their own results, the choices
// whose times are known take 1.054 times as long as the best on average, and 1.053 times with 0.1, with which sizes between tuned ones fare
// worse (tests/generator/test_varying_sizes.cpp).
constexpr std::size_t kJudgedProblems = 4;
constexpr double kDoubtOfDoubling = 0.03;

// Who asks for TF32 wants its speed: where tensor cores multiply it, a guess at those is faster than what won in FP32.
bool is_too_slow_a_mode(const GemmProblem& asked, ComputeMode tuned, const DeviceInfo& device) {
    return asked.compute == ComputeMode::tf32 && tuned != asked.compute && has_tensor_core_kernels(asked, device);
}

// One problem for all that differ in what they promise alone.
GemmProblem in_any_mode(GemmProblem problem) {
    problem.compute = ComputeMode::f32;
    problem.invariant = false;
    return problem;
}

// The problems are the same, but for what they promise.
bool same_but_promise(const GemmProblem& x, const GemmProblem& y) {
    return in_any_mode(x) == in_any_mode(y);
}

// The problems differ in the epilogue alone, so that what was measured of the one is true of the other.
bool is_same_product(GemmProblem x, GemmProblem y) {
    for (GemmProblem* p : {&x, &y}) {
        // A gate leaves half of the product's columns, or rows.
        const i64 rows = rows_of_c(*p);
        const i64 columns = columns_of_c(*p);
        *p = without_epilogue(*p);
        p->ldc += p->n - columns;
        if (p->batch > 1) p->stride_c += rows * (p->n - columns) + (p->m - rows) * p->ldc;
    }
    return same_but_promise(x, y);
}

// What won without the gate, or with one along the other axis that its kernel applied, may leave it to a step, for which it writes twice as
// many sums to memory. That says nothing against it where the guess leaves the gate to a step, too, as all configs do in FP32.
bool is_new_to_gates(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config, const KernelConfig& guess) {
    return tuned.activation != problem.activation && gate_is_a_step(problem, config) && !gate_is_a_step(tuned, config) &&
           !gate_is_a_step(problem, guess);
}

double epilogues_apart(const GemmProblem& x, const GemmProblem& y) {
    const int steps = std::abs(static_cast<int>(x.epilogue) - static_cast<int>(y.epilogue)) + (x.residual != y.residual ? 1 : 0) +
                      (x.bias != y.bias ? 1 : 0) + (x.activation != y.activation ? 1 : 0);
    return steps * kOtherEpiloguePenalty;
}

bool may_be_near(const GemmProblem& x, const GemmProblem& y) {
    return std::all_of(std::begin(kProblemFields), std::end(kProblemFields),
                       [&](const ProblemField& field) { return field.near_may_differ || field.get(x) == field.get(y); });
}

std::string time_of(double median_us, const char* more = "") {
    return median_us > 0 ? fmt::format(" ({} µs when tuned{})", short_number(median_us), more) : "";
}
std::string time_of(const WinnerRow& winner) {
    if (winner.origin == "raced")
        return fmt::format(" ({} µs in a program whose library took {} µs)", short_number(winner.median_us),
                           short_number(winner.library_us));
    return time_of(winner.median_us, winner.origin == "shipped" ? "; it ships with tmm" : "");
}

// The note where a problem that was tuned in the mode serves this one.
std::string mode_note(const GemmProblem& problem, ComputeMode tuned) {
    return tuned == problem.compute ? "" : fmt::format(", tuned as compute={}", name_of(tuned));
}

// The config must be valid for the problem.
std::int64_t workspace_bytes(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    return schedule_of(problem, config, device).workspace_bytes;
}

// A winner's config as it serves the problem.
KernelConfig adapted_config(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config) {
    // Anything may stand in a database.
    if (find_misused_field(config) || is_left_to_naive(problem)) return config;
    if (violation_of(config, main_signature(problem, config))) return config;
    return adapted(problem, tuned, config);
}

}  // namespace

std::optional<KernelConfig> config_for(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config,
                                       const DeviceInfo& device) {
    if (!may_be_near(problem, tuned) || !keeps_promise(problem.compute, tuned.compute, config)) return std::nullopt;
    const KernelConfig served = adapted_config(problem, tuned, config);
    if (rejection_reason(problem, served, device)) return std::nullopt;
    return served;
}

std::string_view name_of(Match match) {
    switch (match) {
        case Match::exact: return "exact";
        case Match::near: return "near";
        case Match::predicted: return "predicted";
        case Match::fallback: return "fallback";
    }
    return "unknown";
}

bool keeps_promise(ComputeMode asked, ComputeMode tuned, const KernelConfig& config) {
    if (asked == tuned) return true;
    if (asked == ComputeMode::f32) return tuned == ComputeMode::f32_strict;
    if (asked == ComputeMode::f32_strict) return tuned == ComputeMode::f32 && family_of(config).traits.multiplies_by_fma;
    if (asked == ComputeMode::tf32) return tuned == ComputeMode::f32 || tuned == ComputeMode::f32_strict;
    return false;
}

double doublings_apart(const GemmProblem& x, const GemmProblem& y) {
    const auto apart = [](i64 u, i64 v) {
        return std::abs(portable::log2(static_cast<double>(std::max<i64>(1, u)) / static_cast<double>(std::max<i64>(1, v))));
    };
    return apart(x.m, y.m) + apart(x.n, y.n) + apart(x.k, y.k) + apart(x.batch, y.batch);
}

Winners::Winners(const std::vector<WinnerRow>& rows, DeviceInfo device, CandidateSource candidates, WinnerSource more)
    : device_(std::move(device)),
      candidates_(std::move(candidates)),
      neighbour_measurements_(std::make_shared<NeighbourMeasurementsBook>(candidates_, device_)) {
    std::vector<WinnerRow> others;
    for (const WinnerRow& row : rows) {
        if (model_of(row) == model_of(device_))
            tuned_.push_back({.winner = row, .problem = with_alignment(row.problem, row.problem.alignment)});
        else
            others.push_back(row);
    }
    others_ = std::make_shared<const OtherDeviceModels>(std::move(others), std::move(more), device_);
    // A user's rows come first, so that the first of equals is theirs; what was searched for comes before what a program raced.
    const auto rank = [](const Tuned& tuned) { return tuned.winner.origin == "user" ? 0 : tuned.winner.origin == "shipped" ? 1 : 2; };
    std::ranges::stable_sort(tuned_, {}, rank);
    for (std::size_t i = 0; i < tuned_.size(); ++i) places_[in_any_mode(tuned_[i].problem)].push_back(i);
}

bool Winners::may_serve(const GemmProblem& problem, const Tuned& tuned) const {
    return keeps_promise(problem.compute, tuned.problem.compute, tuned.winner.config) &&
           !is_too_slow_a_mode(problem, tuned.problem.compute, device_);
}

bool Winners::fits(const GemmProblem& problem, const KernelConfig& config, std::int64_t most_workspace) const {
    return most_workspace == kAnyWorkspace || workspace_bytes(problem, config, device_) <= most_workspace;
}

const WinnerRow* Winners::exact_winner(const GemmProblem& asked) const {
    const GemmProblem problem = with_alignment(asked, asked.alignment);
    std::string ignored;
    const Tuned* const tuned = is_empty(problem) || problem.k == 0 ? nullptr : find_exact(problem, kAnyWorkspace, ignored);
    return tuned ? &tuned->winner : nullptr;
}

const Winners::Tuned* Winners::find_exact(const GemmProblem& problem, std::int64_t most_workspace, std::string& passed_over) const {
    const auto places = places_.find(in_any_mode(problem));
    if (places == places_.end()) return nullptr;
    const Tuned* exact = nullptr;
    for (const std::size_t place : places->second) {
        const Tuned& tuned = tuned_[place];
        const WinnerRow& row = tuned.winner;
        // The library that it raced multiplied in that mode.
        if (!may_serve(problem, tuned) || (row.origin == "raced" && tuned.problem.compute != problem.compute)) continue;
        if (const std::optional<std::string> invalid = rejection_reason(problem, row.config, device_)) {
            passed_over = fmt::format("its winner in the database is not valid: {}", *invalid);
            continue;
        }
        if (!fits(problem, row.config, most_workspace)) continue;
        // Among the modes that keep the promise, the one whose winner is the fastest is taken; in a tie it is the mode that was asked for,
        // since each was measured in a search of its own. A row that ships with tmm gives way to the user's, but not where it alone is of
        // the mode that was asked for: whoever tuned f32_strict did not mean f32 to lose its tensor cores.
        const auto is_asked = [&](const Tuned& of) { return of.problem.compute == problem.compute; };
        const auto time = [&](const Tuned& of) { return of.winner.median_us * (is_asked(of) ? 1 : 1 + kTie); };
        const auto may_replace = [&](const Tuned& other) {
            return row.origin == other.winner.origin || (is_asked(tuned) && !is_asked(other));
        };
        if (!exact || (may_replace(*exact) && time(tuned) < time(*exact))) exact = &tuned;
    }
    return exact;
}

std::optional<MeasuredCandidate> Winners::fastest_candidate(const GemmProblem& problem, const Tuned& tuned, std::int64_t most_workspace,
                                                            bool& can_read) const {
    if (!candidates_) return std::nullopt;
    std::optional<std::vector<MeasuredCandidate>> candidates = candidates_(tuned.winner.problem);
    can_read = candidates.has_value();
    if (!candidates) return std::nullopt;
    const auto found = std::find_if(candidates->begin(), candidates->end(), [&](const MeasuredCandidate& candidate) {
        return keeps_promise(problem.compute, tuned.problem.compute, candidate.config) &&
               !rejection_reason(problem, candidate.config, device_) && fits(problem, candidate.config, most_workspace);
    });
    if (found == candidates->end()) return std::nullopt;
    return std::move(*found);
}

std::optional<Selection> Winners::select_exact(const GemmProblem& problem, std::int64_t most_workspace, std::string& passed_over,
                                               bool& can_read) const {
    const Tuned* const winner = find_exact(problem, kAnyWorkspace, passed_over);
    if (!winner) return std::nullopt;
    const KernelConfig& config = winner->winner.config;
    if (fits(problem, config, most_workspace))
        return Selection{.config = config,
                         .match = Match::exact,
                         .why = fmt::format("{} was {} on {}, and this config won{}{}", to_text(problem),
                                            winner->winner.origin == "raced" ? "raced" : "tuned", device_.name,
                                            mode_note(problem, winner->problem.compute), time_of(winner->winner)),
                         .measured_us = winner->winner.median_us,
                         .library_us = winner->winner.library_us};

    passed_over = fmt::format("its winner ({}) needs {} bytes of workspace, more than the {} allowed", to_text(config),
                              workspace_bytes(problem, config, device_), most_workspace);
    if (const std::optional<MeasuredCandidate> candidate = fastest_candidate(problem, *winner, most_workspace, can_read))
        return Selection{.config = candidate->config,
                         .match = Match::exact,
                         .why = fmt::format("{} was tuned on {}, but {}, and this config is the fastest measured one within them{}",
                                            to_text(problem), device_.name, passed_over, time_of(candidate->measurement.median_us)),
                         .measured_us = candidate->measurement.median_us};
    // The winner is another compute mode's, or one that ships with tmm.
    std::string ignored;
    if (const Tuned* const other = find_exact(problem, most_workspace, ignored))
        return Selection{
            .config = other->winner.config,
            .match = Match::exact,
            .why = fmt::format("{} was tuned on {}, but {}, and this config won within them{}{}", to_text(problem), device_.name,
                               passed_over, mode_note(problem, other->problem.compute), time_of(other->winner.median_us)),
            .measured_us = other->winner.median_us};
    return std::nullopt;
}

std::vector<Winners::NearProblem> Winners::near_problems(const GemmProblem& problem, const std::vector<Tuned>& all) const {
    const KernelSignature signature = without_epilogue(signature_of(problem));
    std::vector<NearProblem> near;
    for (const Tuned& tuned : all) {
        // What a program raced is known to be faster than two or three others at most.
        if (tuned.winner.origin == "raced" || !may_be_near(tuned.problem, problem) || !may_serve(problem, tuned)) continue;
        KernelSignature its = without_epilogue(signature_of(tuned.problem));
        its.compute = signature.compute;
        const double apart = doublings_apart(tuned.problem, problem) + epilogues_apart(tuned.problem, problem) +
                             (its == signature ? 0 : kOtherKernelPenalty);
        if (apart <= kNearDoublings) near.push_back({&tuned, apart});
    }
    const auto distance = [&](const NearProblem& it) { return std::pair(it.apart, it.tuned->problem.compute != problem.compute); };
    std::stable_sort(near.begin(), near.end(), [&](const NearProblem& a, const NearProblem& b) { return distance(a) < distance(b); });
    return near;
}

Winners::NearWinner Winners::serving(const GemmProblem& problem, const NearProblem& near, std::int64_t most_workspace) const {
    const KernelConfig config = adapted_config(problem, near.tuned->problem, near.tuned->winner.config);
    if (rejection_reason(problem, config, device_) || !fits(problem, config, most_workspace)) return {};
    return {near.tuned, config};
}

Winners::NearWinner Winners::nearest_winner(const GemmProblem& problem, const std::vector<NearProblem>& near, std::int64_t most_workspace,
                                            const std::function<bool(const NearWinner&)>& may_be_taken) const {
    std::size_t looked_at = 0;
    for (const NearProblem& it : near) {
        if (looked_at == kJudgedProblems) break;
        const NearWinner winner = serving(problem, it, most_workspace);
        if (!winner.tuned) continue;
        if (!may_be_taken || may_be_taken(winner)) return winner;
        ++looked_at;
    }
    return {};
}

Winners::NearWinner Winners::carried_winner(const GemmProblem& problem, const std::vector<NearProblem>& others,
                                            const std::optional<KernelConfig>& guess, std::int64_t most_workspace) const {
    NearWinner best;
    double least = kCarriesOver;
    std::vector<const DeviceInfo*> seen;
    for (const NearProblem& it : others) {
        // The winner of a card counts whose epilogue is the nearest.
        const DeviceInfo* const card = it.tuned->card.get();
        if (!is_same_product(problem, it.tuned->problem) || std::find(seen.begin(), seen.end(), card) != seen.end()) continue;
        const NearWinner winner = serving(problem, it, most_workspace);
        if (!winner.tuned || is_new_to_gates(problem, winner.tuned->problem, winner.config, guess.value_or(winner.config))) continue;
        seen.push_back(card);
        const double slower = guess ? slower_than_on(*card, problem, winner.config, *guess, device_) : 1;
        // What is no number is no reason to follow it.
        if (!(slower < least)) continue;
        least = slower;
        best = winner;
    }
    return best;
}

std::optional<Selection> Winners::select_measured(const GemmProblem& problem, const std::vector<NearProblem>& near,
                                                  const std::optional<KernelConfig>& guess, std::int64_t most_workspace,
                                                  const std::string& own, const std::string& within) const {
    const CostModel model(problem, device_);
    std::vector<const Tuned*> judged;
    // An unmeasured config is expected to take as much longer than predicted as most do at the nearest problem. Less is known of it, so
    // that a measured one is followed as far as a winner is.
    std::optional<double> guess_us;
    double least = 0;
    const Tuned* from = nullptr;
    NearTime best;
    for (const NearProblem& it : near) {
        const auto is_same = [&](const Tuned* other) { return same_but_promise(other->problem, it.tuned->problem); };
        if (judged.size() == kJudgedProblems) break;
        if (std::any_of(judged.begin(), judged.end(), is_same)) continue;
        judged.push_back(it.tuned);
        const std::shared_ptr<const NeighbourMeasurements> times = neighbour_measurements_->of(it.tuned->winner.problem);
        if (!times) break;
        if (times->candidates.empty()) continue;
        if (guess && !guess_us) guess_us = model.estimate(*guess) * times->median_ratio;
        for (const NearTime& candidate : times->candidates) {
            const KernelConfig config = adapted_config(problem, it.tuned->problem, candidate.config);
            if (!keeps_promise(problem.compute, it.tuned->problem.compute, config) || rejection_reason(problem, config, device_)) continue;
            const double expected = model.estimate(config) * candidate.ratio * (1 + kDoubtOfDoubling * it.apart);
            if ((from && expected >= least) || !fits(problem, config, most_workspace)) continue;
            least = expected;
            from = it.tuned;
            best = candidate;
            best.config = config;
        }
    }
    if (!from || (guess_us && kWorthFollowing * *guess_us < least)) return std::nullopt;
    return Selection{.config = best.config,
                     .match = Match::near,
                     .why = fmt::format("{}; of what was measured for the nearest tuned problems this config is expected to take the least "
                                        "time here, {} µs: it took {} µs for {}, {:.1f} doublings away{}{}",
                                        own, short_number(least), short_number(best.measured_us), to_text(from->problem),
                                        doublings_apart(from->problem, problem), mode_note(problem, from->problem.compute), within)};
}

Selection Winners::select(const GemmProblem& asked, std::int64_t most_workspace) const {
    const GemmProblem problem = with_alignment(asked, asked.alignment);
    if (is_empty(problem)) return fallback_selection("there is no element to compute");
    if (problem.k == 0) return fallback_selection("k is 0, so C is only scaled");

    // Why the problem's own winner can't serve; it is empty where the problem has none.
    std::string passed_over;
    bool can_read = true;
    if (const std::optional<Selection> exact = select_exact(problem, most_workspace, passed_over, can_read)) return *exact;
    const std::string within = most_workspace == kAnyWorkspace ? "" : fmt::format(" within {} bytes of workspace", most_workspace);

    const std::string own = passed_over.empty() ? fmt::format("{} was not tuned on {}", to_text(problem), device_.name)
                                                : fmt::format("{} was tuned on {}, but {}", to_text(problem), device_.name, passed_over);
    const std::vector<NearProblem> near = near_problems(problem, tuned_);
    const NearWinner nearest = nearest_winner(problem, near, most_workspace);
    // The emulated device's times say nothing, and nothing is predicted of them.
    if (nearest.tuned && device_.emulated) return near_selection(problem, nearest, own, within);
    const KernelConfig predicted = default_config(problem, device_, most_workspace);
    const std::optional<std::string> invalid = why_invalid(problem, predicted, device_);
    const bool can_guess = !invalid && fits(problem, predicted, most_workspace);
    if (nearest.tuned && is_same_product(problem, nearest.tuned->problem) &&
        !is_new_to_gates(problem, nearest.tuned->problem, nearest.config, predicted))
        return near_selection(problem, nearest, own, within);
    const std::optional<KernelConfig> guess = can_guess ? std::optional(predicted) : std::nullopt;
    const std::vector<NearProblem> others = near_problems(problem, others_->winners());
    if (const NearWinner carried = carried_winner(problem, others, guess, most_workspace); carried.tuned)
        return near_selection(problem, carried, own, within);
    if (!device_.emulated && can_read)
        if (std::optional<Selection> measured = select_measured(problem, near, guess, most_workspace, own, within)) return *measured;
    // How many times as long as the guess a winner is predicted to take.
    const auto slower = [&](const NearWinner& winner) {
        const CostModel model(problem, device_);
        return model.estimate(winner.config) / model.estimate(predicted);
    };
    const auto is_worth_following = [&](const NearWinner& winner) { return !can_guess || slower(winner) <= kWorthFollowing; };
    for (const std::vector<NearProblem>* problems : {&near, &others})
        if (const NearWinner winner = nearest_winner(problem, *problems, most_workspace, is_worth_following); winner.tuned)
            return near_selection(problem, winner, own, within);
    if (nearest.tuned)
        return {
            .config = predicted,
            .match = Match::predicted,
            .why = fmt::format("{}; the winner of the nearest tuned problem, {}, is predicted to take {:.2f} times as long here as this "
                               "config, a guess from its shape{}",
                               own, to_text(nearest.tuned->problem), slower(nearest), within)};
    const std::string because = passed_over.empty() ? "" : "; " + passed_over;
    if (invalid) return fallback_selection(fmt::format("the predicted config is not valid: {}{}", *invalid, because));
    if (!can_guess) return fallback_selection(fmt::format("no other config is known{}{}", within, because));
    return {.config = predicted,
            .match = Match::predicted,
            .why = fmt::format(
                "neither {} nor a problem within {:.0f} doublings of it was tuned on {}{}, so the config is a guess from its shape{}",
                to_text(problem), kNearDoublings, device_.name, within, because)};
}

Selection Winners::near_selection(const GemmProblem& problem, const NearWinner& nearest, const std::string& own,
                                  const std::string& within) const {
    return {.config = nearest.config,
            .match = Match::near,
            .why = fmt::format("{}; the nearest tuned problem, {:.1f} doublings away, is {}{}{}, and its winner is valid here{}", own,
                               doublings_apart(nearest.tuned->problem, problem), to_text(nearest.tuned->problem),
                               mode_note(problem, nearest.tuned->problem.compute),
                               nearest.tuned->card ? fmt::format(", on {}, a GPU of the same architecture", nearest.tuned->card->name) : "",
                               within)};
}

Selection fallback_selection(const std::string& because) {
    return {.config = fallback_config(), .match = Match::fallback, .why = because};
}

}  // namespace tmm
