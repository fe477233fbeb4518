#include "tools/tmm_db/stale_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/environment.h"
#include "base/text/printable.h"
#include "base/text/terminal.h"
#include "generator/compile/compiler.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/device_info.h"
#include "runtime/device/cuda_driver.h"
#include "tools/tmm_db/report.h"
#include "tools/tmm_db/report_json.h"
#include "tools/tmm_db/winner_list.h"

namespace tmm {

namespace {

constexpr int kLargestMajor = 999;

// "13.0" is 13000, as the driver spells it.
int parse_version(const std::string& text, const std::string& option) {
    int major = 0, minor = 0;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, major);
    const bool has_minor = first.ec == std::errc() && first.ptr != end && *first.ptr == '.';
    const auto second = has_minor ? std::from_chars(first.ptr + 1, end, minor) : std::from_chars_result{end, std::errc::invalid_argument};
    if (second.ec != std::errc() || second.ptr != end || major < 1 || major > kLargestMajor || minor < 0 || minor > 99)
        throw Error(ExitStatus::usage, fmt::format("{} is no version", in_quotes(text)), "--" + option, "write one such as 13.0");
    return major * 1000 + minor * 10;
}

ComparedVersion compared(const CommandLine& line, const std::string& option, int installed) {
    if (line.has(option)) return {.version = parse_version(line.text(option), option), .source = ComparedVersion::Source::given};
    return {.version = installed, .source = ComparedVersion::Source::installed};
}

}  // namespace

ExitStatus run_stale_command(const CommandLine& line) {
    const ComparedVersion driver = compared(line, "driver", installed_driver_version());
    const ComparedVersion nvrtc = compared(line, "nvrtc", nvrtc_version());
    const std::filesystem::path file = line.has("db") ? std::filesystem::path(line.text("db")) : default_database_path();
    TuningDatabase database(file, TuningDatabase::Mode::read_only);
    std::vector<std::string> known;
    for (const DeviceModel& device : database.devices()) known.push_back(device.name);
    ReportOptions options{.devices = DeviceFilter(line.text("gpu"), known), .screen = screen_of(stdout)};
    options.screen.wide = line.has("wide");
    const std::vector<StaleWinners> devices = stale_winners(database, options.devices, driver, nvrtc);
    const std::string text = line.has("json") ? stale_json(devices) : stale_report(devices, options);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return ExitStatus::done;
}

namespace {

ComparedVersion known_or_newest(const ComparedVersion& known, const std::vector<StaleWinner>& winners,
                                int TuningDatabase::Decision::*version) {
    if (known.version > 0) return known;
    ComparedVersion newest;
    for (const StaleWinner& winner : winners) newest.version = std::max(newest.version, winner.decision.*version);
    return newest;
}

StaleWinners compare(TuningDatabase& database, const std::vector<WinnerRow>& winners, const ComparedVersion& driver,
                     const ComparedVersion& nvrtc, KernelBook& book) {
    StaleWinners result;
    result.winners = winners;
    const DeviceInfo kept = device_of(model_of(winners.front()));
    const std::optional<DeviceInfo> modelled = remembered_device(kept);
    result.compares_kernels = modelled.has_value();
    Environment now{.device = modelled.value_or(kept)};
    database.set_environment(now);
    for (const WinnerRow& winner : winners)
        if (auto decision = database.decision(winner.problem)) result.stale.push_back({winner, *std::move(decision), {}});
    result.driver = kept.emulated ? ComparedVersion{} : known_or_newest(driver, result.stale, &TuningDatabase::Decision::driver_version);
    result.nvrtc = kept.emulated ? ComparedVersion{} : known_or_newest(nvrtc, result.stale, &TuningDatabase::Decision::nvrtc_version);
    now.device.driver_version = result.driver.version;
    now.nvrtc_version = result.nvrtc.version;
    for (StaleWinner& winner : result.stale) {
        winner.staleness = staleness(winner.winner.problem, winner.decision, now, database, book);
        winner.staleness.kernels = winner.staleness.kernels && result.compares_kernels;
    }
    std::erase_if(result.stale, [](const StaleWinner& winner) { return !winner.staleness.any(); });
    return result;
}

}  // namespace

std::string_view name_of(ComparedVersion::Source source) {
    switch (source) {
        case ComparedVersion::Source::installed: return "installed";
        case ComparedVersion::Source::given: return "given";
        case ComparedVersion::Source::newest_in_database: return "newest in database";
    }
    return "";
}

std::vector<StaleWinners> stale_winners(TuningDatabase& database, const DeviceFilter& filter, const ComparedVersion& driver,
                                        const ComparedVersion& nvrtc) {
    auto winners = winners_of(database, filter);
    std::erase_if(winners, [](const WinnerRow& winner) { return winner.origin != "user" || winner.predicted; });
    KernelBook book;
    std::vector<StaleWinners> devices;
    for (const auto& group : by_device(winners)) devices.push_back(compare(database, group, driver, nvrtc, book));
    return devices;
}

}  // namespace tmm
