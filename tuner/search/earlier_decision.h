// What an earlier run has decided, and whether that counts today.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "db/store/measurement.h"
#include "db/store/tuning_database.h"
#include "generator/compile/kernel_book.h"
#include "tmm/vocabulary/problem.h"
#include "tuner/options/tuning_options.h"
#include "tuner/search/pending_problem.h"
#include "tuner/search/run_report.h"

namespace tmm {

// Suffix of a decision whose run was ended by its budget.
inline constexpr std::string_view kCutSuffix = ":cut";
// Suffix of a decision whose run was disturbed from outside: candidates have no outcome, or no run-off came to its end.
inline constexpr std::string_view kOpenSuffix = ":open";

// An earlier decision that was measured, and is valid: anything may stand in a database.
std::optional<TuningDatabase::Decision> earlier_decision(TuningDatabase& database, const GemmProblem& problem, const DeviceInfo& device);

// Whether this run need not look behind the decision: it is this database's own, made with as much effort, and by no budget where there is
// none today.
bool suffices(const TuningDatabase::Decision& decision, const TuningOptions& options);

// What a decision that suffices is worth among today's candidates.
enum class ReusableResult {
    counts,
    // It was made among others: its winner races the first guesses.
    races,
    // It rests on nothing, or on too few results for the sizes that are judged by it: the problem is searched.
    open,
};

// The problem has the candidates of today's effort.
ReusableResult reusable_result_of(TuningDatabase& database, const PendingProblem& problem, const TuningOptions& options,
                                  const DeviceInfo& device, KernelBook& book);

// Whether the old winner lost its race by so much that more may have changed than its time: the problem is then searched like a new one.
bool is_upset(const ProblemReport& report, const TuningDatabase::Decision& earlier);

// Takes what an earlier decision says into the report. candidates: those among which the rejected ones are counted.
void take_earlier(TuningDatabase& database, const PendingProblem& problem, std::vector<Candidate> candidates, const DeviceInfo& device,
                  KernelBook& book, ProblemReport& report);

// Whether a result says nothing of its candidate, since it depended on something that was no part of the problem.
//
// tmm 0.2 verified with the shape's own alpha and beta, whose values are no part of a problem, and took every failure of a compiler for the
// kernel's; it blamed candidates for signals from outside, for a tuner that was killed, and for memory that others held. Such a result is
// measured again.
bool is_invalidated(const GemmProblem& problem, const Measurement& measurement);

}  // namespace tmm
