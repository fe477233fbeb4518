// Records how long many configs of each shape take on this machine's GPUs, for judging searches without one
// (bench/recording/recorded_times.h).
#pragma once

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/processes/elapsed.h"
#include "base/processes/interrupt.h"
#include "generator/machine/device_info.h"
#include "generator/text/shapes_file.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tuner/options/shard.h"
#include "tuner/progress/progress.h"

namespace tmm::bench {

struct RecordingOptions {
    // Devices of one model, with one worker process each. They share the shapes and the kernels between them.
    std::vector<int> ordinals;
    std::filesystem::path file;
    Shard shard = {};
    // Seconds of the whole run since `start`; with 0 it takes as long as it needs.
    double budget_seconds = 0;
    SteadyClock::time_point start = SteadyClock::now();
};

// Adds to the file what it lacks of the listed shapes, or of the part of them; of a size that varies it has the sample sizes. Throws Error:
// no device, no compiler, the file. What was written until then stays, and the next run goes on from there. The status is done where all
// shapes are complete, no_winner where some are not, or interrupted.
ExitStatus record_times(const std::vector<Shape>& listed, const RecordingOptions& options, Progress& progress, const Interrupt& interrupt);

// The configs of a problem whose times are recorded.

// The best by the model, of which the foremost stand there with overlap and without, and a few of the others that could serve the problem:
// always the same ones, so that problems share their kernels. The default config leads.
std::vector<KernelConfig> configs_to_record(const GemmProblem& problem, const DeviceInfo& device);

}  // namespace tmm::bench
