// The parent of a tuning run: shapes in, measurements and decisions into the database, and a report of what came out.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/tuning_database.h"
#include "generator/error.h"
#include "generator/search/search_space.h"
#include "generator/text/shapes_file.h"
#include "tuner/elapsed.h"
#include "tuner/interrupt.h"
#include "tuner/progress.h"
#include "tuner/shard.h"

namespace tmm {

struct TuningOptions {
    // Devices with one worker process each; kHostDevice is the emulation. GPUs of the same model share the shapes between them.
    std::vector<int> ordinals;
    std::filesystem::path database;
    Effort effort = Effort::normal;
    // Seconds of the whole run since `start`; with 0 it takes as long as it needs.
    double budget_seconds = 0;
    SteadyClock::time_point start = SteadyClock::now();
    // The part of the problems that this run is for.
    Shard shard = {};
    // The run measures and decides anew whatever the database has results for; those stay in it.
    bool remeasure = false;
    // Least deadline of a candidate in seconds; 0: the device's usual one.
    double deadline_floor = 0;
};

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
    // The config is valid where the state is decided_before, decided, cut_short or predicted; the figures below are not valid where it is
    // predicted.
    KernelConfig config = {};
    double median_us = 0;
    double error_ratio = -1;
    // Medians of the default config and of the best of the other configs in the winner's own run-off; 0 where it had none.
    double default_us = 0;
    std::optional<KernelConfig> runner_up = {};
    double runner_up_us = 0;
    // Candidates with an outcome, and how many of them this run measured.
    int candidates = 0;
    int measured_now = 0;
    // Candidates that were measured and can't win.
    std::map<Outcome, int> failed = {};
    // Configs that the search rejected before anything was measured, by reason, as --dry-run counts them. The map is empty where there was
    // no search.
    std::map<std::string, int> rejections = {};
    // Says why this config won, or why there is no winner.
    std::string reason = {};

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
    // The status is done, no_winner or interrupted.
    ExitStatus status() const;
};

// Throws Error: no device, no compiler, database. What was recorded until then stays.
RunReport run_tuning(const std::vector<Shape>& shapes, const TuningOptions& options, Progress& progress, const Interrupt& interrupt);

}  // namespace tmm
