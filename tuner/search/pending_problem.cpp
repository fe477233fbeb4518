#include "tuner/search/pending_problem.h"

#include <algorithm>
#include <utility>

#include "generator/choice/validity.h"
#include "tuner/search/variants.h"
#include "tuner/search/warm_start.h"

namespace tmm {

std::vector<std::optional<Measurement>> known_measurements(TuningDatabase& database, const GemmProblem& problem,
                                                           const std::vector<Candidate>& candidates) {
    std::vector<std::optional<Measurement>> known(candidates.size());
    const std::vector<MeasuredCandidate> rows = database.measurements(problem);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        for (const MeasuredCandidate& row : rows)
            if (row.config == candidates[i].config && row.measurement.kernel_hash == candidates[i].kernel_hash) known[i] = row.measurement;
    }
    return known;
}

namespace {

// Guesses that race an old winner, the default among them.
constexpr std::size_t kGuessesInRace = 5;

std::vector<MeasuredCandidate> measured_before(const GemmProblem& problem, TuningDatabase& database) {
    for (const GemmProblem& alike : problems_alike(problem)) {
        std::vector<MeasuredCandidate> rows = database.deciding_measurements(alike);
        if (!rows.empty()) return rows;
    }
    return {};
}

// Where a quick search finds that its problem was measured before, with kernels of an earlier text, say, the candidates are those that were
// the fastest instead of those that are predicted to be.
std::vector<Candidate> fastest_before(std::vector<Candidate> predicted, const GemmProblem& problem, const DeviceInfo& device,
                                      KernelBook& book, TuningDatabase& database) {
    const std::vector<MeasuredCandidate> rows = measured_before(problem, database);
    if (rows.empty()) return predicted;
    std::vector<Candidate> all = make_candidates(problem, Effort::normal, device, book, kAllCandidates);
    if (device.overlaps_kernels()) {
        for (std::size_t i = 0, count = all.size(); i < count; ++i) {
            all.push_back(all[i]);
            all.back().config.overlap = 1 - all[i].config.overlap;
        }
    }
    std::vector<Candidate> fastest = fastest_measured(predicted, all, rows);
    number(fastest);
    return fastest;
}

// The configs that won for the problem, and for the same problem with the other 16-bit type: they won in run-offs, whose order times taken
// one by one may not show.
std::vector<KernelConfig> winners_before(const GemmProblem& problem, TuningDatabase& database) {
    std::vector<KernelConfig> winners;
    for (const GemmProblem& alike : problems_alike(problem))
        if (const auto decision = database.decision(alike)) winners.push_back(decision->config);
    return winners;
}

// Leaves the candidates that race: the default, which is the first, the old winner and its runner-up, and the next guesses.
void keep_racers(std::vector<Candidate>& candidates, const TuningDatabase::Decision& earlier) {
    std::size_t guesses = 0;
    const auto is_out = [&](const Candidate& candidate) {
        if (candidate.config == earlier.config || candidate.config == earlier.runner_up) return false;
        return guesses++ >= kGuessesInRace;
    };
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(), is_out), candidates.end());
}

}  // namespace

void prepare_candidates(PendingProblem& problem, const Turn& turn, const TuningOptions& options, const DeviceInfo& device, KernelBook& book,
                        TuningDatabase& database) {
    if (!problem.candidates.empty()) return;
    const GemmProblem& asked = problem.shape.problem;
    const std::size_t most = most_candidates(turn);
    Remainder remainder;
    problem.candidates = make_candidates(asked, options.effort, device, book, most, &remainder);
    problem.left_out = remainder.left_out;
    problem.rejections = std::move(remainder.rejections);
    // It names what is predicted: what a search has measured does not open its own decision anew.
    problem.search_hash = search_hash(options.effort, problem.candidates);
    if (options.effort == Effort::quick && most == kAllCandidates)
        problem.candidates = fastest_before(std::move(problem.candidates), asked, device, book, database);
    if (problem.phase != Phase::rematch) {
        const std::vector<KernelConfig> warm_start =
            warm_start_configs(asked, winners_before(asked, database), database.deciding_measurements(asked), device);
        problem.known_fast = put_first(warm_start, problem.candidates, asked, device, book);
        problem.likely_variants = {};
        if (device.emulated || problem.phase == Phase::recall || turn.share_seconds > 0) return;
        for (const KernelConfig& config : variants_of_first(asked, problem.candidates))
            problem.likely_variants.push_back(make_candidate(asked, config, device, book));
        return;
    }
    const TuningDatabase::Decision& earlier = *problem.earlier;
    for (const KernelConfig& config : {earlier.config, earlier.runner_up.value_or(earlier.config)}) {
        const auto is_same = [&](const Candidate& candidate) { return candidate.config == config; };
        if (std::none_of(problem.candidates.begin(), problem.candidates.end(), is_same) && !why_invalid(asked, config, device))
            problem.candidates.push_back(make_candidate(asked, config, device, book));
    }
    keep_racers(problem.candidates, earlier);
}

}  // namespace tmm
