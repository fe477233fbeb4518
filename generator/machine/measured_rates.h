// What tmm-tune measures of a device in a second or two, by kernels that do one thing only (templates/tmm/ceilings).
#pragma once

#include <string>

namespace tmm {

struct DeviceInfo;

struct MeasuredRates {
    // Bytes a microsecond that all SMs together read of memory.
    double read_bytes = 0;
    // Multiply-adds in float a microsecond: of all SMs together, and of one SM while the others have nothing to do.
    double fmas = 0;
    double fmas_of_one_sm = 0;
    // Multiply-adds a microsecond of all SMs together by mma.sync with 16-bit operands, and the SMs' clock in MHz meanwhile.
    double mma_16 = 0;
    double mma_clock = 0;
    // Microseconds from one empty kernel of a replayed graph to the next.
    double launch_gap = 0;

    friend bool operator==(const MeasuredRates&, const MeasuredRates&) = default;
};

struct RateField {
    // The column of the database, and the key in messages and JSON.
    const char* name;
    double MeasuredRates::*member;
    // The values that a device of any kind may have.
    double least;
    double most;
    // Whether 0 stands for a rate that is not known: older devices have no mma.sync, and some drivers tell no clock.
    bool may_be_unknown;
};

inline constexpr RateField kRateFields[] = {
    {"read_bytes", &MeasuredRates::read_bytes, 1e2, 1e9, false},
    {"fmas", &MeasuredRates::fmas, 1, 1e10, false},
    {"fmas_of_one_sm", &MeasuredRates::fmas_of_one_sm, 1, 1e7, false},
    {"mma_16", &MeasuredRates::mma_16, 1, 1e11, true},
    {"mma_clock", &MeasuredRates::mma_clock, 1, 1e5, true},
    {"launch_gap", &MeasuredRates::launch_gap, 1e-3, 1e4, false},
};

// Why the rates can't be those of this device: one is in no device's range, or over twice or under a tenth of what the data sheet or the
// driver says of it. Empty where they may be.
std::string why_untrusted(const MeasuredRates& rates, const DeviceInfo& device);

}  // namespace tmm
