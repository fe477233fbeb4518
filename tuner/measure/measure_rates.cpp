#include "tuner/measure/measure_rates.h"

#include <set>

#include "tuner/measure/ceilings.h"

namespace tmm {
namespace {

// Together with what comes before a clock settles, this makes less than two seconds on a GPU.
constexpr CeilingOptions kQuick{.settle = {.least_seconds = 0.1, .most_seconds = 0.2},
                                .sample_us = 300,
                                .samples = 9,
                                .read_bytes = std::int64_t{1} << 29,
                                .quick = true};
constexpr double kFlopOfFma = 2;

}  // namespace

MeasuredRates measure_rates(const std::shared_ptr<Device>& device) {
    const CeilingSweep sweep(device, {Unit::ffma, Unit::bf16}, kQuick);
    MeasuredRates rates;
    // The first to run brings an idle device to its clock.
    if (const std::optional<FlopRate> one_sm = sweep.measure_one_sm(Unit::ffma)) rates.fmas_of_one_sm = one_sm->flop_per_us / kFlopOfFma;
    const DeviceCeilings ceilings = sweep.measure();
    rates.read_bytes = ceilings.read_bytes_per_us;
    rates.fmas = ceilings.flop_per_us(Unit::ffma) / kFlopOfFma;
    if (const auto mma = ceilings.multiplying.find(Unit::bf16); mma != ceilings.multiplying.end()) {
        rates.mma_16 = mma->second.flop_per_us / kFlopOfFma;
        rates.mma_clock = mma->second.clock_mhz;
    }
    rates.launch_gap = ceilings.launch_gap_us;
    return rates;
}

}  // namespace tmm
