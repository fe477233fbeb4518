// What came out of a tuning run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "db/store/measurement.h"
#include "db/store/tuning_database.h"
#include "generator/machine/device_info.h"
#include "generator/machine/measured_rates.h"
#include "generator/text/shapes_file.h"

namespace tmm {

enum class ProblemState {
    // The problem was decided by an earlier run that measured all there is to measure.
    decided_before,
    decided,
    // The problem was decided from some of the candidates: the budget was used up.
    cut_short,
    no_winner,
    // The budget ended before it was measured: its config is a guess by the model.
    predicted,
    // The run was interrupted before or while it was measured.
    not_reached,
};

struct ProblemReport {
    Shape shape;
    ProblemState state = ProblemState::not_reached;
    // An earlier run's budget ended before all candidates were measured.
    bool cut_before = false;
    // The winner with its times, why it won, and the number of candidates with an outcome, as the database has them. The config is valid
    // where the state is decided_before, decided, cut_short or predicted, the times unless it is predicted. Without a winner the reason
    // says why.
    TuningDatabase::Decision decision = {};
    double error_ratio = -1;
    // The time of an earlier decision's winner in the same run-off; 0 where it took no part.
    double old_winner_us = 0;
    // Candidates that this run has measured.
    int measured_now = 0;
    // Candidates that were measured and can't win.
    std::map<Outcome, int> failed = {};
    // Configs that the search rejected before anything was measured, by reason, as --dry-run counts them. The map is empty where there was
    // no search.
    std::map<std::string, int> rejections = {};

    // Whether there is a verified winner.
    bool has_winner() const {
        return state == ProblemState::decided_before || state == ProblemState::decided || state == ProblemState::cut_short;
    }
    // 2 m n k batch over the median; 0 without a winner.
    double tflops() const;
    // The default config's time over the winner's, both of one run-off; 0 where it is not known.
    double vs_default() const;
};

struct DeviceReport {
    DeviceInfo device;
    // What was measured of the device, in this run or before; predictions go by it.
    std::optional<MeasuredRates> rates = {};
    std::vector<ProblemReport> problems;
    // More problems, which an interrupted run did not look at.
    std::size_t not_looked_at = 0;
    // The GPUs of this model, and the time that they took together for what they were asked.
    int workers = 0;
    double busy_seconds = 0;
};

struct RunReport {
    std::vector<DeviceReport> devices;
    bool interrupted = false;
    double seconds = 0;
    // Work that could not be ended and goes on while the report is printed; the process must end without destroying it.
    std::shared_ptr<void> still_running = {};

    int measured_now() const;
    // The part of the run's time in which the GPUs had work, prepared, verified or timed; nothing where no GPU took part.
    std::optional<double> busy() const;
    // The problems that have no verified winner.
    std::vector<const ProblemReport*> without_winner() const;
    // The status is done, no_winner or interrupted.
    ExitStatus status() const;
};

// "212 candidates measured, 3 failed: 2 spills, 1 wrong_result".
std::string tally(int measured, const std::map<Outcome, int>& failed);

// "; 6169 configs rejected before: 4210 not among the best predictions, 1500 …, 459 for 12 other reasons"; empty where there are none.
std::string rejected_text(const std::map<std::string, int>& rejections);

// Reasons and how often each was given, the most frequent first.
std::vector<std::pair<std::string, int>> by_count(const std::map<std::string, int>& reasons);

}  // namespace tmm
