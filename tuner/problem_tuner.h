// Tunes one problem after another on one device: measures what the database lacks, holds the run-off, writes the decision.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "db/tuning_database.h"
#include "tuner/candidate_compiler.h"
#include "tuner/candidates.h"
#include "tuner/progress.h"
#include "tuner/tuning_run.h"
#include "tuner/worker_process.h"

namespace tmm {

// A problem that a run has to look at, with its candidates once its turn is near.
struct OpenProblem {
    Shape shape;
    std::vector<Candidate> candidates = {};
    std::string search_hash = {};
};

// Said of a decision whose run was ended by its budget.
inline constexpr std::string_view kCutSuffix = ":cut";

// The candidates' newest measurements with today's kernels, by place in `candidates`.
std::vector<std::optional<Measurement>> known_measurements(TuningDatabase& database, const GemmProblem& problem,
                                                           const std::vector<Candidate>& candidates);

// One per worker, used by one thread.
class ProblemTuner {
public:
    ProblemTuner(int worker_number, WorkerProcess& worker, CandidateCompiler& compiler, TuningDatabase& database, Progress& progress,
                 const Interrupt& interrupt, const TuningOptions& options);

    // priority: its place in the compiler's queue. share_seconds: what it may take, 0: all it needs; the default config and a
    // few more are measured in any case.
    ProblemReport tune(const OpenProblem& problem, int priority, double share_seconds);

private:
    struct Session;
    bool prepare(Session& session);
    void add_candidates(Session& session, const std::vector<Candidate>& candidates) const;
    void measure_all(Session& session, std::vector<std::size_t> missing, double kept_share);
    void measure_variants(Session& session);
    bool measure(Session& session, std::size_t index);
    void hold_run_off(Session& session);
    std::vector<std::size_t> finalists_of(const Session& session) const;
    void record(Session& session, std::size_t index, Measurement measurement);
    std::string left_out(const Session& session) const;
    void decide(Session& session, std::size_t winner, double median_us, double speed_up, const std::string& why);
    std::optional<Measurement> judge_compiled(const Candidate& candidate, bool is_default) const;
    bool wait_for_kernels(const Candidate& candidate, int priority) const;
    void request_kernels(const Candidate& candidate, int priority) const;
    void request_in_order(const Session& session, const std::vector<std::size_t>& indices) const;
    bool compiled(const Candidate& candidate) const;
    double deadline(const Session& session) const;
    void show_progress(const Session& session) const;

    int number_;
    WorkerProcess& worker_;
    CandidateCompiler& compiler_;
    TuningDatabase& database_;
    Progress& progress_;
    const Interrupt& interrupt_;
    const TuningOptions& options_;
    // Of the candidates that the search did not have.
    KernelBook variants_;
};

}  // namespace tmm
