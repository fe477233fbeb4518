#include "tuner/search/pending_problem.h"

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

}  // namespace tmm
