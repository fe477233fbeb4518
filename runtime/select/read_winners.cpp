#include "runtime/select/read_winners.h"

#include <fmt/core.h>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

// A program that multiplies writes to no database: what a killed tuner left is undone in a copy.
TuningDatabase open(const std::filesystem::path& file, const Patience& patience) {
    return TuningDatabase(file, TuningDatabase::Mode::read_only, patience);
}

std::vector<MeasuredCandidate> verified_candidates(const std::filesystem::path& file, const DeviceInfo& device, const GemmProblem& problem,
                                                   const Patience& patience) {
    TuningDatabase database = open(file, patience);
    database.set_environment(Environment{.device = device});
    return verified_times(database.deciding_measurements(problem));
}

// The device, with the profile that was measured of it. Winners serve even where the database can't say what that is.
DeviceInfo with_profile(DeviceInfo device, TuningDatabase& database) {
    if (device.emulated) return device;
    try {
        if (const auto known = database.known_rates(device)) device.profile = profile_of(device, known->rates);
    } catch (const std::exception& error) {
        log_line(fmt::format("times are predicted without what was measured of {}: {}", device.name, error.what()));
    }
    return device;
}

}  // namespace

Winners read_winners(const std::filesystem::path& database, const DeviceInfo& opened, const Patience& patience) {
    std::vector<WinnerRow> rows;
    DeviceInfo device = opened;
    const auto of_other_device_models = [opened] { return shipped_winners_beside(opened.name, opened.compute_capability()); };
    try {
        TuningDatabase source = open(database, patience);
        rows = with_shipped(source.winners(), shipped_winners(opened.name));
        device = with_profile(opened, source);
    } catch (const std::exception& error) {
        log_line(fmt::format("kernels are chosen without a tuning database: {}", error.what()));
        return Winners(shipped_winners(opened.name), device, {}, of_other_device_models);
    }
    const auto candidates = [database, device, patience](const GemmProblem& problem) -> std::optional<std::vector<MeasuredCandidate>> {
        try {
            return verified_candidates(database, device, problem, patience);
        } catch (const std::exception& error) {
            log_line(fmt::format("a kernel for {} is chosen without its measured candidates: {}", to_text(problem), error.what()));
            return std::nullopt;
        }
    };
    return Winners(rows, device, candidates, of_other_device_models);
}

}  // namespace tmm
