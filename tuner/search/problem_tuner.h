// Tunes one problem after another on one device: measures what the database lacks, holds the run-off, writes the decision.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/processes/interrupt.h"
#include "db/store/tuning_database.h"
#include "tuner/options/budget.h"
#include "tuner/options/tuning_options.h"
#include "tuner/progress/progress.h"
#include "tuner/search/candidates.h"
#include "tuner/search/compile_queue.h"
#include "tuner/search/corrected_model.h"
#include "tuner/search/pending_problem.h"
#include "tuner/search/run_report.h"
#include "tuner/worker/worker_connection.h"

namespace tmm {

struct SearchSession;

// Each worker has its own tuner, which one thread uses.
class ProblemTuner {
public:
    ProblemTuner(int worker_number, WorkerConnection& worker, CompileQueue& compiler, TuningDatabase& database, Progress& progress,
                 const Interrupt& interrupt, const TuningOptions& options, const Budget& budget);

    // number: the problem's own in the compiler's queue. Without a limit the report has a winner, or the reason why there is none;
    // within a limit it may also say that the problem was not reached.
    ProblemReport tune(const PendingProblem& problem, int number, const Turn& turn);

private:
    static constexpr double kPoll_s = 0.1;
    // The kernels of variants are compiled behind so many that the search needs next.
    static constexpr int kRankOfVariants = 8;
    // Places among the session's candidates, and times that were taken in the same run-off; 0 where there are none.
    struct Verdict {
        std::size_t winner = 0;
        double median_us = 0;
        double default_us = 0;
        std::optional<std::size_t> runner_up = {};
        double runner_up_us = 0;
        double old_winner_us = 0;
    };
    void find_winner(SearchSession& session);
    bool prepare(SearchSession& session);
    void add_candidates(SearchSession& session, const std::vector<Candidate>& candidates) const;
    void search(SearchSession& session, double kept_for_variants);
    bool is_certain(SearchSession& session, const CorrectedModel& model, const std::vector<std::size_t>& missing) const;
    bool is_out_of_time(SearchSession& session, std::size_t missing) const;
    void measure_all(SearchSession& session, std::vector<std::size_t> missing, double kept_for_variants, CorrectedModel* model);
    bool look_at(SearchSession& session, std::size_t index);
    bool is_to_end(const SearchSession& session, double kept_for_variants) const;
    void expect_variants(SearchSession& session);
    void measure_variants(SearchSession& session);
    bool measure(SearchSession& session, std::size_t index);
    std::optional<Measurement> outcome_of(SearchSession& session, std::size_t index, const WorkerConnection::Answer& answer, double limit);
    void hold_run_off(SearchSession& session);
    bool try_run_off(SearchSession& session, const std::vector<std::size_t>& entrants);
    bool make_ready(SearchSession& session, const std::vector<std::size_t>& entrants);
    void blame(SearchSession& session, std::size_t index, const WorkerConnection::Answer& answer, double limit);
    bool judge(SearchSession& session, const std::vector<std::size_t>& entrants, const RunOffDone& done);
    void decide_alone(SearchSession& session);
    std::vector<std::size_t> finalists_of(const SearchSession& session) const;
    void give_up(SearchSession& session, std::size_t index, const std::string& why, bool again);
    // A result is saved when the next candidate is announced, or where there is time to.
    void keep(SearchSession& session, std::size_t index, Measurement measurement);
    void save(SearchSession& session);
    void record(SearchSession& session, std::size_t index, Measurement measurement);
    std::string left_out(const SearchSession& session) const;
    void decide(SearchSession& session, const Verdict& verdict, const std::string& why);
    std::optional<Measurement> judge_compiled(const Candidate& candidate, bool is_default) const;
    bool wait_for_kernels(const SearchSession& session, std::size_t index) const;
    void request_kernels(const SearchSession& session, const Candidate& candidate, int rank) const;
    void request_in_order(const SearchSession& session, const std::vector<std::size_t>& indices) const;
    bool compiled(const Candidate& candidate) const;
    // Seconds on a clock that stands while the worker works for other searches, and those that this one has taken.
    double now() const;
    double taken(const SearchSession& session) const;
    double deadline(const SearchSession& session) const;
    double left(const SearchSession& session) const;
    double kept_for_run_off(const SearchSession& session) const;
    void show_progress(const SearchSession& session) const;

    int number_;
    WorkerConnection& worker_;
    CompileQueue& compiler_;
    TuningDatabase& database_;
    Progress& progress_;
    const Interrupt& interrupt_;
    const TuningOptions& options_;
    const Budget& budget_;
    const SteadyClock::time_point started_ = SteadyClock::now();
    // Seconds that the last run-off took.
    double run_off_seconds_ = 0;
    // The kernels of the candidates that the search did not have.
    KernelBook variants_;
};

}  // namespace tmm
