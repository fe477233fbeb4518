#include "tuner/search/run_report.h"

#include <algorithm>

namespace tmm {

double ProblemReport::tflops() const {
    return has_winner() && median_us > 0 ? flops(shape.problem) / median_us * 1e-6 : 0;
}

double ProblemReport::vs_default() const {
    return has_winner() && median_us > 0 ? default_us / median_us : 0;
}

std::optional<double> RunReport::busy() const {
    double busy = 0;
    int workers = 0;
    for (const DeviceReport& device : devices) {
        if (device.device.emulated) continue;
        busy += device.busy_seconds;
        workers += device.workers;
    }
    if (workers == 0 || seconds <= 0) return std::nullopt;
    return std::min(busy / (workers * seconds), 1.0);
}

int RunReport::measured_now() const {
    int measured = 0;
    for (const DeviceReport& device : devices)
        for (const ProblemReport& problem : device.problems) measured += problem.measured_now;
    return measured;
}

std::vector<const ProblemReport*> RunReport::without_winner() const {
    std::vector<const ProblemReport*> found;
    for (const DeviceReport& device : devices)
        for (const ProblemReport& problem : device.problems)
            if (!problem.has_winner()) found.push_back(&problem);
    return found;
}

ExitStatus RunReport::status() const {
    if (interrupted) return ExitStatus::interrupted;
    return without_winner().empty() ? ExitStatus::done : ExitStatus::no_winner;
}

}  // namespace tmm
