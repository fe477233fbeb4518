// Runs what is to be timed until the device's clock has settled.
#pragma once

#include <functional>
#include <vector>

namespace tmm {

// Takes one sample: runs the side once and gives its time in microseconds per launch.
using Sampler = std::function<double()>;

struct SettleOptions {
    double least_seconds = 1;
    double most_seconds = 4;
};

// Runs every sampler in turn for at least least_seconds, and on until the first one's times stop falling (its last window's
// median is no longer 0.5% under the window before) or most_seconds are over.
void settle(const std::vector<Sampler>& samplers, const SettleOptions& options);

}  // namespace tmm
