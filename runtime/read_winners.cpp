#include "runtime/read_winners.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "db/records.h"
#include "db/tuning_database.h"
#include "generator/log.h"
#include "generator/text.h"

namespace tmm {
namespace {

// A tuner holds the lock for one small transaction; who holds it longer does not hold up a program's start.
constexpr int kLockPatienceMs = 2000;

// A read-only connection could not roll back what a killed tuner left.
TuningDatabase open(const std::filesystem::path& file) {
    return TuningDatabase(file, TuningDatabase::Mode::read_write, kLockPatienceMs);
}

std::vector<MeasuredCandidate> verified_candidates(const std::filesystem::path& file, const DeviceInfo& device,
                                                   const GemmProblem& problem) {
    TuningDatabase database = open(file);
    database.set_environment(Environment{.device = device});
    // The newest of each config counts, whatever text its kernel had: it may have been found wrong since.
    std::vector<MeasuredCandidate> newest;
    for (MeasuredCandidate& measured : database.measurements(problem)) {
        const auto is_its = [&](const MeasuredCandidate& known) { return known.config == measured.config; };
        if (std::none_of(newest.begin(), newest.end(), is_its)) newest.push_back(std::move(measured));
    }
    std::erase_if(newest, [](const MeasuredCandidate& candidate) {
        return candidate.measurement.outcome != Outcome::ok || candidate.measurement.median_us <= 0;
    });
    std::stable_sort(newest.begin(), newest.end(), [](const MeasuredCandidate& x, const MeasuredCandidate& y) {
        return x.measurement.median_us < y.measurement.median_us;
    });
    return newest;
}

}  // namespace

Winners read_winners(const std::filesystem::path& database, const DeviceInfo& device) {
    std::vector<WinnerRow> rows;
    try {
        rows = with_shipped(open(database).winners());
    } catch (const std::exception& error) {
        log_line(fmt::format("kernels are chosen without a tuning database: {}", error.what()));
        return Winners(shipped_winners(), device);
    }
    return Winners(std::move(rows), device, [database, device](const GemmProblem& problem) -> std::vector<MeasuredCandidate> {
        try {
            return verified_candidates(database, device, problem);
        } catch (const std::exception& error) {
            log_line(fmt::format("a kernel for {} is chosen without its measured candidates: {}", to_text(problem), error.what()));
            return {};
        }
    });
}

}  // namespace tmm
