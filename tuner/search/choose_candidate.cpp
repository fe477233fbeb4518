#include "tuner/search/choose_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/search/sampling.h"
#include "tuner/search/variants.h"

namespace tmm {
namespace {

// So many of the first candidates are measured in the order of the search, whatever the model makes of their times.
constexpr int kFirstInOrder = 4;
// Results after which kernels are compiled in the order that they have led to.
constexpr int kResultsPerRequest = 8;

}  // namespace

PendingCandidates::PendingCandidates(ProblemSearch& search, std::vector<std::size_t> in_order)
    : search_(search), order_(std::move(in_order)), next_request_(search.outcomes() + kResultsPerRequest) {}

PendingCandidates PendingCandidates::of_search(ProblemSearch& s, bool expects_variants) {
    std::vector<KernelConfig> configs;
    for (const Candidate& candidate : s.candidates) configs.push_back(candidate.config);
    CorrectedModel model(std::move(configs), s.estimates);
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < s.results.size(); ++i) {
        if (!s.results[i]) missing.push_back(i);
        if (s.passed(i)) model.observe(i, s.results[i]->median_us);
    }
    PendingCandidates pending(s, std::move(missing));
    pending.model_ = std::move(model);
    pending.expects_variants_ = expects_variants;
    pending.arrange();
    return pending;
}

// Those that are measured whatever the model makes of their times: the default, what is known to be fast, and the first of the search.
bool PendingCandidates::is_first(std::size_t i) const {
    return i <= search_.pending.known_fast || search_.candidates[i].order < kFirstInOrder;
}

void PendingCandidates::arrange() {
    std::vector<std::pair<double, std::size_t>> bounds;
    for (const std::size_t i : order_) bounds.emplace_back(is_first(i) ? 0 : model_->lower_confidence_bound(i), i);
    std::sort(bounds.begin(), bounds.end());
    std::transform(bounds.begin(), bounds.end(), order_.begin(), [](const auto& bound) { return bound.second; });
}

std::optional<std::size_t> PendingCandidates::first_compiled() const {
    const auto first = std::find_if(order_.begin(), order_.end(),
                                    [&](std::size_t i) { return is_compiled(search_.context.compiler, search_.candidates[i]); });
    return first == order_.end() ? std::nullopt : std::optional(*first);
}

void PendingCandidates::request_kernels() const {
    for (std::size_t place = 0; place < order_.size(); ++place)
        search_.request_kernels(search_.candidates[order_[place]], static_cast<int>(place));
}

void PendingCandidates::take_out(std::size_t index) {
    std::erase(order_, index);
    if (!model_ || !search_.passed(index)) return;
    model_->observe(index, search_.results[index]->median_us);
    arrange();
    if (expects_variants_) expect_variants();
    if (search_.outcomes() < next_request_) return;
    next_request_ = search_.outcomes() + kResultsPerRequest;
    request_kernels_anew();
}

// What comes behind the search is compiled during it: the device would wait for each kernel's whole compilation.
void PendingCandidates::expect_variants() const {
    ProblemSearch& s = search_;
    for (const KernelConfig& config : variants_of_fastest(s.problem(), s.candidates, s.results)) {
        const auto is_it = [&](const Candidate& candidate) { return candidate.config == config; };
        if (std::any_of(s.expected_variants.begin(), s.expected_variants.end(), is_it)) continue;
        s.expect_variant(make_candidate(s.problem(), config, s.context.worker.device(), s.context.variants));
    }
}

bool PendingCandidates::are_enough_known() const {
    return model_ && !is_first(order_.front()) && (is_certain() || is_effort_over());
}

// The emulated device's times are those of a machine that does other work too, and its searches are short. Where other sizes are judged by
// what is measured for this one, it is not the winner alone that counts.
bool PendingCandidates::is_certain() const {
    const Certainty certainty = certainty_of(search_.context.options.effort);
    if (search_.emulated() || search_.pending.shape.is_sample_size || model_->observations() < certainty.least_observations) return false;
    double chance = 0;
    for (const std::size_t i : order_) chance += model_->chance_below(i, search_.best_us * (1 - certainty.margin));
    if (chance >= certainty.chance) return false;
    search_.ended = fmt::format("the chance that one of {} others is faster by more than {:g}% is below {:g}%", order_.size(),
                                100 * certainty.margin, 100 * certainty.chance);
    return true;
}

// A budget gives each problem a time of its own.
bool PendingCandidates::is_effort_over() const {
    const Effort effort = search_.context.options.effort;
    const Certainty certainty = certainty_of(effort);
    if (search_.emulated() || search_.context.budget.is_limited() || certainty.seconds <= 0) return false;
    if (search_.best_us <= 0 || search_.outcomes() < least_results(certainty, search_.pending.shape.is_sample_size)) return false;
    if (search_.taken() < kSearchPart * certainty.seconds) return false;
    search_.ended = fmt::format("the {:g} s of effort {} ended before {} others", certainty.seconds, name_of(effort), order_.size());
    return true;
}

}  // namespace tmm
