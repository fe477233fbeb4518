// The database's content as values that stand on their own. They are exported, imported, merged and shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/store/measurement.h"
#include "db/store/tuning_database.h"
#include "generator/machine/measured_rates.h"

namespace tmm {

struct TuningRecord {
    enum class Kind { measurement, selection };

    Kind kind = Kind::measurement;
    Environment environment = {};
    // A measurement's compute mode is the default one of its types: measurements serve every mode.
    GemmProblem problem = {};
    KernelConfig config = {};
    // A text that does not name it is of times back to back.
    MeasurementPolicy policy = {.other_kernel = false};
    // The time of the measurement or decision in seconds since 1970.
    std::int64_t time = 0;

    // A selection has only the median.
    Measurement measurement = {};

    // The remaining fields belong to a selection.
    int candidates = 0;
    std::string reason = {};
    std::string search_hash = {};
    // "user", "shipped" or "raced".
    std::string origin = "user";
    // These fields are as in TuningDatabase::Decision.
    double default_us = 0;
    std::optional<KernelConfig> runner_up = {};
    double runner_up_us = 0;
    bool predicted = false;
};

// What was measured of a device itself.
struct RatesRecord {
    Environment environment = {};
    MeasuredRates rates = {};
    // Seconds since 1970.
    std::int64_t time = 0;
};

// The decision that counts of each problem and device under the default policy: the last one, a user's before a shipped one, and that
// before a raced one.
std::vector<TuningRecord> newest_decisions(const std::vector<TuningRecord>& records);

// Returns the same decisions as winners of origin "shipped".
std::vector<WinnerRow> shipped_winners_among(const std::vector<TuningRecord>& records);
// The decisions of db/winners/winners.csv, which ships with tmm, and their winners. The file is read once; the functions are thread-safe.
const std::vector<TuningRecord>& shipped_records();
const std::vector<WinnerRow>& shipped_winners();
// Those of one device alone, or those of all other devices of its compute capability, for who would not wait for all to be read. They are
// read at each call.
std::vector<WinnerRow> shipped_winners(const std::string& device);
std::vector<WinnerRow> shipped_winners_beside(const std::string& device, int compute_capability);
// A database's measured winners, and behind them the shipped ones of other problems and devices.
std::vector<WinnerRow> with_shipped(std::vector<WinnerRow> winners, const std::vector<WinnerRow>& shipped = shipped_winners());

}  // namespace tmm
