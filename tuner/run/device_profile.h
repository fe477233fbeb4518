// The profile that a run's predictions use: of what the database knows of the device, measured first where it knows nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "db/store/tuning_database.h"
#include "generator/machine/measured_rates.h"
#include "tuner/worker/worker_process.h"

namespace tmm {

// What a worker measured, or why it measured nothing.
using RatesOrReason = std::variant<MeasuredRates, std::string>;

struct ProfileRequest {
    // Measures again what the database knows.
    bool remeasure = false;
    // Seconds of the whole run; 0 where they are not limited. Measuring takes two, and a short run does without.
    double budget_seconds = 0;
};

// Gives the device its profile, and returns the rates that it is made of; nothing where there are none. What is measured goes into the
// database, whose environment must be the device's. Where rates can't be the device's they are refused, and predictions go by what is known
// of its model. note() gets a line about what was measured or refused.
std::optional<MeasuredRates> find_profile(DeviceInfo& device, const ProfileRequest& request, TuningDatabase& database,
                                          const std::function<RatesOrReason()>& measure,
                                          const std::function<void(const std::string&)>& note);

// Asks the worker, which is replaced where measuring ends it. Throws Error where no worker can be started any more.
RatesOrReason ask_for_rates(WorkerProcess& worker);

// "memory 4.60 TB/s, FMAs 65.8 TFLOP/s, mma.sync 620 TFLOP/s at 1900 MHz, 0.50 µs a launch".
std::string to_text(const MeasuredRates& rates);

}  // namespace tmm
