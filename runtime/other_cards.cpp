#include "runtime/other_cards.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "generator/machine/assumed_device.h"
#include "generator/prediction/cost_model.h"
#include "runtime/validate.h"

namespace tmm {
namespace {

std::shared_ptr<const DeviceInfo> card_of(const WinnerRow& row) {
    DeviceInfo kept;
    kept.name = row.device;
    kept.compute_capability_major = row.compute_capability / 10;
    kept.compute_capability_minor = row.compute_capability % 10;
    kept.sm_count = row.sm_count;
    const std::optional<DeviceInfo> card = remembered_device(kept);
    return card ? std::make_shared<const DeviceInfo>(*card) : nullptr;
}

}  // namespace

void OtherCards::read() const {
    if (source_) {
        std::vector<WinnerRow> more = source_();
        rows_.insert(rows_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    std::vector<std::shared_ptr<const DeviceInfo>> cards;
    for (WinnerRow& row : rows_) {
        if (row.compute_capability != device_.compute_capability() || row.sm_count <= 0 || is_same_model(row, device_)) continue;
        const auto is_its = [&](const auto& card) { return is_same_model(row, *card); };
        auto card = std::find_if(cards.begin(), cards.end(), is_its);
        if (card == cards.end()) {
            std::shared_ptr<const DeviceInfo> made = card_of(row);
            if (!made) continue;
            card = cards.insert(cards.end(), std::move(made));
        }
        const GemmProblem problem = with_alignment(row.problem, row.problem.alignment);
        winners_.push_back({.winner = std::move(row), .problem = problem, .card = *card});
    }
    rows_.clear();
}

const std::vector<TunedProblem>& OtherCards::winners() const {
    std::call_once(once_, [&] { read(); });
    return winners_;
}

bool is_same_model(const WinnerRow& row, const DeviceInfo& device) {
    return row.device == device.name && row.compute_capability == device.compute_capability() && row.sm_count == device.sm_count;
}

double slower_than_on(const DeviceInfo& card, const GemmProblem& problem, const KernelConfig& config, const KernelConfig& guess,
                      const DeviceInfo& device) {
    const CostModel here(problem, device);
    const CostModel there(problem, card);
    return here.estimate(config) / here.estimate(guess) * there.estimate(guess) / there.estimate(config);
}

}  // namespace tmm
