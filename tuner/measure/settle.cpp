#include "tuner/measure/settle.h"

#include <chrono>

#include "tuner/measure/timing.h"

namespace tmm {
namespace {

constexpr std::size_t kWindow = 5;
constexpr double kStillFalling = 0.995;

bool still_falling(const std::vector<double>& times) {
    if (times.size() < 2 * kWindow) return true;
    const auto end = times.end();
    const auto window = static_cast<std::ptrdiff_t>(kWindow);
    return quantile({end - window, end}, 0.5) < kStillFalling * quantile({end - 2 * window, end - window}, 0.5);
}

}  // namespace

void settle(const std::vector<Sampler>& samplers, const SettleOptions& options) {
    if (samplers.empty()) return;
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> times;
    while (true) {
        for (std::size_t i = 0; i < samplers.size(); ++i) {
            const double time = samplers[i]();
            if (i == 0) times.push_back(time);
        }
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (seconds >= options.most_seconds || (seconds >= options.least_seconds && !still_falling(times))) return;
    }
}

}  // namespace tmm
