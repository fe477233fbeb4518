#include "tools/tmm_db/report_text.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <ctime>

#include "base/text/printable.h"
#include "base/text/text_table.h"
#include "base/text/text_width.h"
#include "db/store/ranges.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {

std::string time_text(double us) {
    return us > 0 ? short_number(us) : "-";
}

std::string tflops_text(const std::string& device, const GemmProblem& problem, double us) {
    if (device == kEmulatedName) return "";
    return us > 0 ? short_number(flops(problem) / us * 1e-6) : "-";
}

std::string ratio_text(double ratio) {
    return ratio >= 0 ? short_number(ratio) : "-";
}

std::string count_text(int count) {
    return count >= 0 ? fmt::format("{}", count) : "-";
}

std::string config_text(const KernelConfig& config, const ReportOptions& options) {
    return options.screen.wide ? fields_text(config) : to_text(config);
}

std::string device_text(const DeviceModel& device) {
    return fmt::format("{} (compute capability {}.{}, {} SM{})", printable(device.name), device.compute_capability / 10,
                       device.compute_capability % 10, device.sm_count, device.sm_count == 1 ? "" : "s");
}

std::string device_line(const WinnerRow& winner, const ReportOptions& options) {
    return hanging(device_text(model_of(winner)), columns_of(options), kReportIndent) + "\n";
}

std::string on_named(const DeviceFilter& devices) {
    return devices.takes_all() ? "" : " on a device named " + in_quotes(devices.name());
}

std::size_t columns_of(const ReportOptions& options) {
    return options.screen.wide ? 0 : options.screen.columns;
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string version_or_none(int version) {
    return version ? version_text(version) : "none";
}

std::string utc(std::int64_t time) {
    // fmt can't print a year that does not fit into int.
    if (time < kEarliestTime || time > kLatestTime) return fmt::format("@{}", time);
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(time)));
}

std::vector<std::vector<WinnerRow>> by_device(const std::vector<WinnerRow>& winners) {
    std::vector<std::vector<WinnerRow>> groups;
    for (const WinnerRow& winner : winners) {
        const auto same =
            std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return model_of(group.front()) == model_of(winner); });
        if (same == groups.end())
            groups.push_back({winner});
        else
            same->push_back(winner);
    }
    return groups;
}

}  // namespace tmm
