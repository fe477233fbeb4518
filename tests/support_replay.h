// Replays a search over times that were recorded on a GPU (tmm-tune --record): the tuner runs as it does, and a worker answers from them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/recorded_times.h"

namespace tmm::testing {

// What a search of one shape came to.
struct ReplayedSearch {
    std::string shape;
    // By how much its winner is slower than the fastest config that was recorded: 0.01 stands for 1%.
    double regret = 0;
    // Configs whose times it asked for, and how many of them were not recorded.
    int requests = 0;
    int unrecorded = 0;
    // Says why there is no winner; empty where there is one.
    std::string failure = {};
};

// Searches with each of the budgets, numbers of candidates, with an empty database and without winners of other tunings. The results stand
// in the order of the budgets.
std::vector<ReplayedSearch> replay_searches(const RecordedProblem& recorded, const DeviceInfo& device, const std::vector<int>& budgets);

// Reads a recording, which gzip may have compressed. Throws Error (bad_input).
RecordedTimes read_recording(const std::filesystem::path& file);

}  // namespace tmm::testing
