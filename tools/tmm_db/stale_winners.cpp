#include "tools/tmm_db/stale_winners.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "generator/machine/assumed_device.h"
#include "generator/machine/device_model.h"
#include "tools/tmm_db/winner_list.h"

namespace tmm {
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
