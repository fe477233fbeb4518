#include "runtime/select/other_device_models.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "generator/choice/cost_model.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/device_info.h"
#include "generator/problem/problem_forms.h"

namespace tmm {
namespace {

std::shared_ptr<const DeviceInfo> card_of(const DeviceModel& model) {
    const std::optional<DeviceInfo> card = remembered_device(device_of(model));
    return card ? std::make_shared<const DeviceInfo>(*card) : nullptr;
}

}  // namespace

void OtherDeviceModels::read() const {
    if (device_.emulated) return;
    if (source_) {
        std::vector<WinnerRow> more = source_();
        rows_.insert(rows_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    const DeviceModel own = model_of(device_);
    std::vector<std::shared_ptr<const DeviceInfo>> cards;
    for (WinnerRow& row : rows_) {
        const DeviceModel model = model_of(row);
        if (model.compute_capability != own.compute_capability || model.sm_count <= 0 || model == own || is_emulated(model)) continue;
        const auto is_its = [&](const auto& card) { return model_of(*card) == model; };
        auto card = std::find_if(cards.begin(), cards.end(), is_its);
        if (card == cards.end()) {
            std::shared_ptr<const DeviceInfo> made = card_of(model);
            if (!made) continue;
            card = cards.insert(cards.end(), std::move(made));
        }
        const GemmProblem problem = with_alignment(row.problem, row.problem.alignment);
        winners_.push_back({.winner = std::move(row), .problem = problem, .card = *card});
    }
    rows_.clear();
}

const std::vector<TunedProblem>& OtherDeviceModels::winners() const {
    std::call_once(once_, [&] { read(); });
    return winners_;
}

double slower_than_on(const DeviceInfo& card, const GemmProblem& problem, const KernelConfig& config, const KernelConfig& guess,
                      const DeviceInfo& device) {
    const CostModel here(problem, device);
    const CostModel there(problem, card);
    return here.estimate(config) / here.estimate(guess) * there.estimate(guess) / there.estimate(config);
}

}  // namespace tmm
