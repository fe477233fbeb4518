#include "generator/machine/measured_rates.h"

#include <fmt/core.h>

#include "generator/machine/device_info.h"

namespace tmm {
namespace {

// A rate as data sheet or driver lead one to expect it; 0 where they say nothing.
struct Expected {
    const RateField& field;
    double rate;
    // Most times the expected rate.
    double most = 2;
};

std::string why_far_from(const Expected& expected, const MeasuredRates& rates, const MachineProfile& known) {
    constexpr double least = 0.1;
    const double rate = rates.*expected.field.member;
    if (rate == 0 || expected.rate == 0) return {};
    const auto why = [&](const std::string& how) {
        return fmt::format("{} is {:.3g}, {} the {:.3g} {}", expected.field.name, rate, how, expected.rate, name_of(known.origin));
    };
    if (rate > expected.most * expected.rate) return why(fmt::format("over {:g} times", expected.most));
    return rate < least * expected.rate ? why("under a tenth of") : std::string();
}

}  // namespace

std::string why_untrusted(const MeasuredRates& rates, const DeviceInfo& device) {
    if (device.emulated) return "an emulated device has no rates";
    for (const RateField& field : kRateFields) {
        const double rate = rates.*field.member;
        if (rate == 0 && field.may_be_unknown) continue;
        if (!(rate >= field.least && rate <= field.most))
            return fmt::format("{} is {:.3g}, outside {:g} … {:g}", field.name, rate, field.least, field.most);
    }
    const auto& [read, fmas, fmas_of_one_sm, mma_16, mma_clock, launch_gap] = kRateFields;
    const MachineProfile known = profile_of(device);
    // GPUs of one generation differ tenfold in memory.
    const bool knows_memory = known.origin != MachineProfile::Origin::generation;
    // Within a generation, those for graphics multiply in tensor cores at half or a quarter of the rate of others.
    constexpr double most_by_tensor_cores = 4;
    for (const Expected& expected :
         {Expected{read, knows_memory ? known.memory_bytes : 0}, Expected{fmas, device.sm_count * known.fmas_per_clock * known.fma_clock},
          Expected{fmas_of_one_sm, known.fmas_per_clock * known.clock},
          Expected{mma_16, device.sm_count * known.mma_16_per_clock * known.tensor_clock, most_by_tensor_cores},
          Expected{mma_clock, known.clock}})
        if (std::string why = why_far_from(expected, rates, known); !why.empty()) return why;
    return {};
}

}  // namespace tmm
