// Replays a search over times that were recorded on a GPU (tmm-bench --record): the tuner runs as it does, and a worker answers from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "bench/recording/recorded_times.h"
#include "generator/choice/search_space.h"

namespace tmm::testing {

// How a search is replayed.
struct ReplayOptions {
    // Candidates that it may measure; 0 stands for all that it wants.
    int most_candidates = 0;
    Effort effort = Effort::normal;
    // Standard deviation of a sample, in parts of the time that was recorded, and what the noise is drawn from.
    double noise = 0;
    std::uint64_t seed = 0;
    // Requests to the worker after which it is interrupted, one for each time; then it goes on from its database.
    std::vector<int> interruptions = {};
    // The config of an earlier decision that counts no more: it races the others that were recorded.
    std::optional<KernelConfig> old_winner = {};
    // Requests after which the compiler breaks, once; then it goes on from its database, too. 0 stands for never.
    int compiler_breaks_after = 0;
    // Whether the shape is one of those that others are judged by.
    bool is_sample_size = false;
    // Configs that are known to be fast beforehand.
    std::vector<KernelConfig> known_fast = {};
    // Requests after which the product of a config, the default unless another is named, is compiled; all other kernels are from the
    // beginning.
    int late_compiled_after = 0;
    std::optional<KernelConfig> late = {};
    // Seconds that each request takes beside its samples.
    double seconds_per_request = 0;
};

// What a search of one shape came to.
struct ReplayedSearch {
    std::string shape;
    // By how much its winner is slower than the fastest config that was recorded: 0.01 stands for 1%.
    double regret = 0;
    std::string winner = {};
    // Whether the old winner lost its race, so that the shape would be searched anew.
    bool is_upset = false;
    // Configs whose times it asked for, and how many of them were not recorded.
    int requests = 0;
    int unrecorded = 0;
    // Samples of candidates by themselves and in the run-off.
    int samples = 0;
    int run_off_samples = 0;
    // Microseconds on the device that the samples of each recorded config took, in the order in which it asked, and those of the run-off.
    std::vector<double> request_us = {};
    double run_off_us = 0;
    // What the decision says of itself, and why there is no winner; empty where there is one.
    std::string reason = {};
    std::string failure = {};

    double sampled_seconds() const { return 1e-6 * std::accumulate(request_us.begin(), request_us.end(), run_off_us); }
};

// Searches with an empty database and without winners of other tunings. The results stand in the order of the options.
std::vector<ReplayedSearch> replay_searches(const bench::RecordedProblem& recorded, const DeviceInfo& device,
                                            const std::vector<ReplayOptions>& options);

// Reads a recording, which gzip may have compressed. Throws Error (bad_input).
bench::RecordedTimes read_recording(const std::filesystem::path& file);

}  // namespace tmm::testing
