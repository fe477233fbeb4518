#include "runtime/other_cards.h"

#include <algorithm>
#include <mutex>
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

struct OtherCards::State {
    std::once_flag once;
    std::vector<WinnerRow> rows;
    WinnerSource source;
    DeviceInfo device;
    std::vector<TunedProblem> winners;

    void read() {
        if (source) {
            std::vector<WinnerRow> more = source();
            rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
        }
        std::vector<std::shared_ptr<const DeviceInfo>> cards;
        for (WinnerRow& row : rows) {
            if (row.compute_capability != device.compute_capability() || is_same_model(row, device)) continue;
            const auto is_its = [&](const auto& card) { return is_same_model(row, *card); };
            auto card = std::find_if(cards.begin(), cards.end(), is_its);
            if (card == cards.end()) {
                std::shared_ptr<const DeviceInfo> made = card_of(row);
                if (!made) continue;
                card = cards.insert(cards.end(), std::move(made));
            }
            const GemmProblem problem = with_alignment(row.problem, row.problem.alignment);
            winners.push_back({.winner = std::move(row), .problem = problem, .card = *card});
        }
        rows.clear();
    }
};

OtherCards::OtherCards(std::vector<WinnerRow> rows, WinnerSource source, const DeviceInfo& device) : state_(std::make_unique<State>()) {
    state_->rows = std::move(rows);
    state_->source = std::move(source);
    state_->device = device;
}

OtherCards::~OtherCards() = default;

const std::vector<TunedProblem>& OtherCards::winners() const {
    std::call_once(state_->once, [&] { state_->read(); });
    return state_->winners;
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
