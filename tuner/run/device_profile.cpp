#include "tuner/run/device_profile.h"

#include <fmt/format.h>

#include "base/text/printable.h"
#include "base/text/text_table.h"

namespace tmm {
namespace {

// Measuring takes at most a twentieth of a run.
constexpr double kLeastBudget = 40;
// It takes two seconds, and at first as long to compile the kernels; a busy machine takes longer.
constexpr double kMostSeconds = 120;

bool may_measure(const ProfileRequest& request, const std::optional<TuningDatabase::KnownRates>& known) {
    if (request.budget_seconds > 0 && request.budget_seconds < kLeastBudget) return false;
    return request.remeasure || !known || !known->of_same_driver;
}

}  // namespace

RatesOrReason ask_for_rates(WorkerProcess& worker) {
    const auto ended = [&worker](const std::string& how) {
        worker.respawn();
        return how;
    };
    const WorkerProcess::Answer answer = worker.ask(RatesRequest{}, kMostSeconds, kMostSeconds);
    if (const auto* died = std::get_if<WorkerProcess::Died>(&answer))
        return ended(fmt::format("it ended the worker process ({})", died->how));
    if (std::holds_alternative<WorkerProcess::TimedOut>(answer)) return ended(fmt::format("it took more than {:g} s", kMostSeconds));
    const auto* reply = std::get_if<Reply>(&answer);
    if (!reply) return "the run was interrupted";
    if (const auto* measured = std::get_if<RatesMeasured>(reply)) return measured->rates;
    const auto* not_measured = std::get_if<NotMeasured>(reply);
    return not_measured ? not_measured->detail : std::string("the worker process answered something else");
}

std::string to_text(const MeasuredRates& rates) {
    constexpr double tera = 1e-6;
    constexpr double flop_of_fma = 2;
    std::string text = fmt::format("memory {} TB/s, FMAs {} TFLOP/s", short_number(rates.read_bytes * tera),
                                   short_number(flop_of_fma * rates.fmas * tera));
    if (rates.mma_16 > 0) text += fmt::format(", mma.sync {} TFLOP/s", short_number(flop_of_fma * rates.mma_16 * tera));
    if (rates.mma_clock > 0) text += fmt::format(" at {:.0f} MHz", rates.mma_clock);
    return text + fmt::format(", {} µs a launch", short_number(rates.launch_gap));
}

std::optional<MeasuredRates> find_profile(DeviceInfo& device, const ProfileRequest& request, TuningDatabase& database,
                                          const std::function<RatesOrReason()>& measure,
                                          const std::function<void(const std::string&)>& note) {
    // Its times say nothing about arithmetic or memory.
    if (device.emulated) return std::nullopt;
    const std::optional<TuningDatabase::KnownRates> known = database.known_rates(device);
    std::optional<MeasuredRates> rates;
    if (known) rates = known->rates;
    if (may_measure(request, known)) {
        const RatesOrReason answer = measure();
        const auto* const measured = std::get_if<MeasuredRates>(&answer);
        const std::string why = measured ? why_untrusted(*measured, device) : std::get<std::string>(answer);
        if (why.empty()) {
            database.record(*measured);
            rates = *measured;
            note(fmt::format("{} was measured: {}", printable(device.name), to_text(*measured)));
        } else {
            note(fmt::format("{}: no rates were measured: {}", printable(device.name), why));
        }
    }
    device.profile = rates ? profile_of(device, *rates) : profile_of(device);
    return rates;
}

}  // namespace tmm
