#include "tuner/search/run_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace tmm {

double ProblemReport::tflops() const {
    return has_winner() && decision.median_us > 0 ? flops(shape.problem) / decision.median_us * 1e-6 : 0;
}

double ProblemReport::vs_default() const {
    return has_winner() && decision.median_us > 0 ? decision.default_us / decision.median_us : 0;
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

std::string tally(int measured, const std::map<Outcome, int>& failed) {
    int total = 0;
    std::string list;
    for (const auto& [outcome, count] : failed) {
        total += count;
        list += fmt::format("{}{} {}", list.empty() ? ": " : ", ", count, name_of(outcome));
    }
    return fmt::format("{} candidates measured, {} failed{}", measured, total, list);
}

std::string rejected_text(const std::map<std::string, int>& rejections) {
    constexpr std::size_t kNamed = 4;
    int total = 0;
    int named = 0;
    std::string list;
    const auto sorted = by_count(rejections);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto& [reason, count] = sorted[i];
        total += count;
        if (i >= kNamed) continue;
        named += count;
        list += fmt::format("{}{} x {}", list.empty() ? ": " : ", ", count, reason);
    }
    if (total == 0) return {};
    if (sorted.size() > kNamed) list += fmt::format(", {} for {} rarer reasons", total - named, sorted.size() - kNamed);
    return fmt::format("; {} configs rejected before{}", total, list);
}

std::vector<std::pair<std::string, int>> by_count(const std::map<std::string, int>& reasons) {
    std::vector<std::pair<std::string, int>> sorted(reasons.begin(), reasons.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

}  // namespace tmm
