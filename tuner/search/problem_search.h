// What is known of the problem that is searched: its candidates, their results, and the time that is left.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/processes/elapsed.h"
#include "base/processes/interrupt.h"
#include "db/store/measurement.h"
#include "db/store/tuning_database.h"
#include "generator/compile/kernel_book.h"
#include "tuner/options/tuning_options.h"
#include "tuner/progress/progress.h"
#include "tuner/search/candidates.h"
#include "tuner/search/compile_queue.h"
#include "tuner/search/pending_problem.h"
#include "tuner/search/run_report.h"
#include "tuner/worker/worker_connection.h"

namespace tmm {

// What the searches of one thread use, one after another.
struct SearchContext {
    // Tells concurrent searches apart where progress is shown.
    int number = 0;
    WorkerConnection& worker;
    CompileQueue& compiler;
    TuningDatabase& database;
    Progress& progress;
    const Interrupt& interrupt;
    const TuningOptions& options;
    const Budget& budget;
    SteadyClock::time_point started = SteadyClock::now();
    // Seconds that the last run-off took.
    double run_off_seconds = 0;
    // The kernels of the candidates that a search did not have.
    KernelBook variants = {};
};

class ProblemSearch {
public:
    // number: the problem's own in the compiler's queue.
    ProblemSearch(SearchContext& context, PendingProblem& pending, int number, const Turn& turn);

    const GemmProblem& problem() const { return pending.shape.problem; }
    bool emulated() const { return context.worker.device().emulated; }

    // Adds candidates together with their known measurements.
    void add(const std::vector<Candidate>& candidates);
    bool passed(std::size_t i) const { return tmm::passed(results[i]); }
    // Whether the candidate needs no more looking at, in this run.
    bool is_settled(std::size_t i) const { return results[i] || given_up.contains(i); }
    // Number of candidates that have an outcome, and of those that can't win, by outcome.
    int outcomes() const;
    std::map<Outcome, int> failed() const;

    // Keeps a result, which is saved when the next candidate is announced, or where there is time to.
    void keep(std::size_t index, Measurement measurement);
    void save(const std::vector<Announcement>& announced = {});
    // The candidate is not to blame for having no result. again: it runs once more.
    void give_up(std::size_t index, const std::string& why, bool again);

    // Says why the problem can't have a winner.
    Phase no_winner(std::string why);

    void request_kernels(const Candidate& candidate, int rank) const;
    // Requests the kernels of these candidates, in their order, and none that were requested before.
    void request_in_order(const std::vector<std::size_t>& indices) const;
    // Has the kernels of a variant compiled behind those that the search needs next.
    void expect_variant(const Candidate& variant);
    // Waits until more kernels are compiled than were when it was asked last, or for a moment.
    void wait_for_kernels() const;
    // Returns how the search ends where it can't wait until the kernel is compiled.
    std::optional<Phase> compile(const KernelSource& source) const;
    std::optional<Phase> compile(std::size_t index) const;

    // Seconds on a clock that stands while the worker works for other searches, and those that this search has taken.
    double now() const { return seconds_since(context.started) - context.worker.seconds_for_others(); }
    double taken() const { return now() - begun_; }
    // Seconds that a candidate has before it counts as hanging.
    double deadline() const;
    // Seconds that are left of the problem's turn and of the run, whichever are fewer.
    double left() const;
    // Seconds of the problem's share that are kept for the run-off.
    double kept_for_run_off() const;
    // Whether the budget ends measuring. kept_for_variants: the part of the problem's share that is kept for them.
    bool is_over(double kept_for_variants) const;
    void show_progress() const;

    SearchContext& context;
    PendingProblem& pending;
    const int number;
    const Turn turn;
    // Whether an earlier winner and the first guesses are all that takes part.
    const bool is_rematch;
    // Candidates of the search, and variants of the fastest. The first is the default config. Predicted times are in µs.
    std::vector<Candidate> candidates;
    std::vector<double> estimates;
    std::vector<std::optional<Measurement>> results;
    // Why candidates that are given up have no outcome: another run may have more luck.
    std::map<std::size_t, std::string> given_up;
    // Number of times that the candidate's worker was ended from outside.
    std::map<std::size_t, int> outside_kills;
    // Variants of those that are the fastest so far. Their kernels are compiled while the search goes on.
    std::vector<Candidate> expected_variants;
    // The budget ended before all candidates were measured.
    bool cut = false;
    // Says why the search ended before its last candidates, though nothing cut it short; empty where it did not.
    std::string ended;
    // The best time among the candidates that passed, and the least wall-clock time that one of them took from request to reply.
    double best_us = 0;
    double best_wall = 0;
    // Whether the worker holds the problem's operands.
    bool prepared = false;
    ProblemReport report;

private:
    // Results that the database does not have yet.
    std::vector<CandidateResult> unsaved_;
    double begun_;
    mutable int kernels_seen_ = 0;
};

}  // namespace tmm
