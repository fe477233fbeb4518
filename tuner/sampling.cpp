#include "tuner/sampling.h"

#include <algorithm>

namespace tmm {
namespace {

// First samples slower than this many times the best are not refined.
constexpr double kHopeless = 3;

}  // namespace

TimingOptions timing_options(bool emulated, Effort effort, double best_us) {
    // The emulation's times say nothing of a GPU's: a few samples will do.
    if (emulated)
        return TimingOptions{.sample_us = 200, .samples = 3, .total_us = 5000, .min_samples = 1, .abandon_above_us = kHopeless * best_us};
    constexpr int kSamples[] = {5, 7, 15};
    return TimingOptions{.sample_us = 1000,
                         .samples = kSamples[static_cast<int>(effort)],
                         .total_us = 30000,
                         .min_samples = 3,
                         .abandon_above_us = kHopeless * best_us};
}

RunOffRequest run_off_request(bool emulated, Effort effort, double seconds) {
    if (emulated) return RunOffRequest{.configs = {}, .rounds = 9, .min_rounds = 3, .sample_us = 200, .total_us = 200000};
    constexpr int kRounds[] = {30, 40, 100};
    RunOffRequest request{.configs = {},
                          .rounds = kRounds[static_cast<int>(effort)],
                          .min_rounds = 30,
                          .sample_us = 1000,
                          .total_us = 4e6,
                          .settle_us = 200000};
    if (seconds * 1e6 < 2 * request.total_us) {
        request.min_rounds = 5;
        request.total_us = 0.5e6 * seconds;
        request.settle_us = std::min(request.settle_us, 0.1e6 * seconds);
    }
    return request;
}

std::size_t finalist_places(bool emulated, Effort effort) {
    if (emulated) return 3;
    constexpr std::size_t kCounts[] = {4, 8, 10};
    return kCounts[static_cast<int>(effort)];
}

}  // namespace tmm
