// What a tuning run is asked for.
#pragma once

#include <filesystem>
#include <vector>

#include "base/processes/elapsed.h"
#include "generator/choice/search_space.h"
#include "tuner/options/shard.h"

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

}  // namespace tmm
