// Tunes one problem after another on one device: measures what the database lacks, holds the run-off, writes the decision.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/tuning_database.h"
#include "tuner/budget.h"
#include "tuner/candidates.h"
#include "tuner/compile_queue.h"
#include "tuner/progress.h"
#include "tuner/tuning_run.h"
#include "tuner/worker_connection.h"

namespace tmm {

// A problem that a run has to look at, with its candidates once its turn is near.
struct OpenProblem {
    Shape shape;
    // Place of the problem among the report's problems.
    std::size_t place = 0;
    // An earlier run's decision, and whether it counts unless the search has changed since.
    std::optional<TuningDatabase::Decision> earlier = {};
    bool may_count = false;
    // The decision was made with another driver or compiler, or with kernels of an earlier text: its winner races the first guesses, all of
    // them measured anew, before anything else is.
    bool races = false;
    std::vector<Candidate> candidates = {};
    std::string search_hash = {};
    // Number of configs that the search rejected, by reason.
    std::map<std::string, int> rejections = {};
    // Further candidates that the search has, for which a small budget has no time.
    std::size_t left_out = 0;
};

// Suffix of a decision whose run was ended by its budget.
inline constexpr std::string_view kCutSuffix = ":cut";
// Suffix of a decision whose run was disturbed from outside: candidates have no outcome, or no run-off came to its end.
inline constexpr std::string_view kOpenSuffix = ":open";

// The candidates' newest measurements with today's kernels, by place in `candidates`.
std::vector<std::optional<Measurement>> known_measurements(TuningDatabase& database, const GemmProblem& problem,
                                                           const std::vector<Candidate>& candidates);

// Each worker has its own tuner, which one thread uses.
class ProblemTuner {
public:
    ProblemTuner(int worker_number, WorkerConnection& worker, CompileQueue& compiler, TuningDatabase& database, Progress& progress,
                 const Interrupt& interrupt, const TuningOptions& options, const Budget& budget);

    // priority: the problem's place in the compiler's queue. Without a limit the report has a winner, or the reason why there is none;
    // within a limit it may also say that the problem was not reached.
    ProblemReport tune(const OpenProblem& problem, int priority, const Turn& turn);

private:
    struct Session;
    // Places among the session's candidates, and times that were taken in the same run-off; 0 where there are none.
    struct Verdict {
        std::size_t winner = 0;
        double median_us = 0;
        double default_us = 0;
        std::optional<std::size_t> runner_up = {};
        double runner_up_us = 0;
    };
    bool prepare(Session& session);
    void add_candidates(Session& session, const std::vector<Candidate>& candidates) const;
    void measure_all(Session& session, std::vector<std::size_t> missing, double kept_for_variants);
    bool is_to_end(const Session& session, double kept_for_variants) const;
    void measure_variants(Session& session);
    bool measure(Session& session, std::size_t index);
    void hold_run_off(Session& session);
    bool try_run_off(Session& session, const std::vector<std::size_t>& entrants);
    bool judge(Session& session, const std::vector<std::size_t>& entrants, const RunOffDone& done);
    void decide_alone(Session& session);
    std::vector<std::size_t> finalists_of(const Session& session) const;
    void give_up(Session& session, std::size_t index, const std::string& why, bool again);
    void record(Session& session, std::size_t index, Measurement measurement);
    std::string left_out(const Session& session) const;
    void decide(Session& session, const Verdict& verdict, const std::string& why);
    std::optional<Measurement> judge_compiled(const Candidate& candidate, bool is_default) const;
    bool wait_for_kernels(const Session& session, const Candidate& candidate) const;
    void request_kernels(const Candidate& candidate, int priority) const;
    void request_in_order(const Session& session, const std::vector<std::size_t>& indices) const;
    bool compiled(const Candidate& candidate) const;
    double deadline(const Session& session) const;
    double left(const Session& session) const;
    double kept_for_run_off(const Session& session) const;
    void show_progress(const Session& session) const;

    int number_;
    WorkerConnection& worker_;
    CompileQueue& compiler_;
    TuningDatabase& database_;
    Progress& progress_;
    const Interrupt& interrupt_;
    const TuningOptions& options_;
    const Budget& budget_;
    // Wall-clock time that the last run-off took.
    double run_off_seconds_ = 0;
    // The kernels of the candidates that the search did not have.
    KernelBook variants_;
};

}  // namespace tmm
