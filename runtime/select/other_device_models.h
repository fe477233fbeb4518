// Winners of other GPU models of the device's compute capability, for problems that nobody tuned on the device itself. Their kernels run
// here unchanged; how fast is told by the profiles of both.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// A winner as selection compares it with what is asked for.
struct TunedProblem {
    WinnerRow winner;
    // winner.problem in the one spelling (with_alignment) by which problems are compared.
    GemmProblem problem;
    // The card that it was tuned on; null for the device's own model.
    std::shared_ptr<const DeviceInfo> card = nullptr;
};

using WinnerSource = std::function<std::vector<WinnerRow>()>;

// Rows of the device's own model and of other compute capabilities are left out. Thread-safe.
class OtherDeviceModels {
public:
    // source may be empty; it is asked once, when the winners are first needed.
    OtherDeviceModels(std::vector<WinnerRow> rows, WinnerSource source, DeviceInfo device)
        : rows_(std::move(rows)), source_(std::move(source)), device_(std::move(device)) {}

    const std::vector<TunedProblem>& winners() const;

private:
    void read() const;

    mutable std::once_flag once_;
    mutable std::vector<WinnerRow> rows_;
    WinnerSource source_;
    DeviceInfo device_;
    mutable std::vector<TunedProblem> winners_;
};

// By how many times the config gets slower from the card to the device, beside the guess, as the profiles of both predict it.
double slower_than_on(const DeviceInfo& card, const GemmProblem& problem, const KernelConfig& config, const KernelConfig& guess,
                      const DeviceInfo& device);

}  // namespace tmm
