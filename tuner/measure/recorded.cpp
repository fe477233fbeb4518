// Samples of replayed launches; see recorded.h.
#include "tuner/measure/recorded.h"

#include <algorithm>
#include <cmath>

namespace tmm {
namespace {

constexpr int kMostLaunches = 4096;

}  // namespace

// The first replay finds cold instruction caches and clocks.
double screening_time(const Recorded& recorded) {
    double fastest = recorded.sample();
    const int more = fastest * recorded.launches < 5000 ? 3 : 1;
    for (int i = 0; i < more; ++i) fastest = std::min(fastest, recorded.sample());
    return fastest;
}

int launches_for(double sample_us, double launch_us, int sets) {
    const double rounds = std::ceil(sample_us / std::max(launch_us * sets, 1e-3));
    const double most = std::max(1.0, std::floor(static_cast<double>(kMostLaunches) / sets));
    return sets * static_cast<int>(std::clamp(rounds, 1.0, most));
}

Sampler sampler_of(const std::shared_ptr<Recorded>& recorded) {
    return [recorded] { return recorded->sample(); };
}

}  // namespace tmm
