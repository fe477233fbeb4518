// Pieces of what tmm-db prints for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text/terminal.h"
#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "tools/tmm_db/device_filter.h"
#include "tools/tmm_db/library_choice.h"

namespace tmm {

struct ReportOptions {
    DeviceFilter devices = {};
    Screen screen = {};
    // May be empty: then winners are shown as they were decided on.
    LibraryChooser choose = {};
};

inline constexpr std::size_t kReportIndent = 4;

// Times in microseconds; "-" where it is not known.
std::string time_text(double us);
// The emulated device's times say nothing about arithmetic.
std::string tflops_text(const std::string& device, const GemmProblem& problem, double us);
std::string ratio_text(double ratio);
std::string count_text(int count);
std::string config_text(const KernelConfig& config, const ReportOptions& options);
std::string device_text(const DeviceModel& device);
// A line above the winners of one device.
std::string device_line(const WinnerRow& winner, const ReportOptions& options);
// " on a device named 'H200'"; empty where all devices are meant.
std::string on_named(const DeviceFilter& devices);
// Most columns of a line of prose; 0 means unlimited.
std::size_t columns_of(const ReportOptions& options);
// 13000 is "13.0"; 0 is "none".
std::string version_or_none(int version);
std::string version_text(int version);
// "2026-11-20 12:00:00 UTC".
std::string utc(std::int64_t time);

// The winners grouped by device, in the order of the devices' first winners.
std::vector<std::vector<WinnerRow>> by_device(const std::vector<WinnerRow>& winners);

}  // namespace tmm
