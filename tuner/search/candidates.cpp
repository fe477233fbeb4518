#include "tuner/search/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

// Multiplications that a search on the emulated device needs at least: the reference, the first candidates verified and timed, a run-off.
constexpr double kLeastMultiplications = 25;

// Candidates that are made for each second of a problem's share, and for each that may be measured; the fewest and the most within a limit.
constexpr double kCandidatesPerSecond = 200;
constexpr double kOfferedPerMeasured = 8;
constexpr std::size_t kFewestCandidates = 8;
constexpr double kMostCandidates = 1e6;

constexpr std::string_view kEffortNames[] = {"quick", "normal", "full"};

// FNV-1a, 64 bits.
void mix(std::uint64_t& hash, std::string_view text) {
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 1099511628211ULL;
    }
}

}  // namespace

std::string why_unserved(const GemmProblem& problem, const DeviceInfo& device) {
    // The fallback config serves nearly all problems, and that is soon found out. The default config is always offered, so where it can't
    // serve, nothing can.
    if (why_invalid(problem, fallback_config(), device)) {
        if (const auto reason = why_invalid(problem, default_config(problem, device), device))
            return "no kernel serves it: " + why_none_serves(problem, *reason);
    }
    return why_too_large(problem, device, kLeastMultiplications).value_or("");
}

Candidate make_candidate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, KernelBook& book) {
    Candidate candidate;
    candidate.config = config;
    const LaunchPlan plan = make_launch_plan(problem, config, device);
    candidate.workspace_bytes = plan.workspace_bytes;
    candidate.main_kernel = main_step(plan);
    for (const LaunchStep& step : plan.steps) {
        const PlannedKernel& kernel = book.kernel(step);
        candidate.kernels.push_back(&kernel);
        candidate.threads.push_back(step.threads);
        candidate.shared_bytes = std::max(candidate.shared_bytes, step.shared_bytes);
        candidate.kernel_name += (candidate.kernel_name.empty() ? "" : "+") + kernel.source.name;
    }
    candidate.kernel_hash = kernel_hash(plan, book);
    return candidate;
}

std::vector<Candidate> make_candidates(const GemmProblem& problem, Effort effort, const DeviceInfo& device, KernelBook& book,
                                       std::size_t most, Remainder* remainder) {
    SearchSpace space = search_space(problem, device, effort);
    std::vector<KernelConfig>& configs = space.candidates;
    if (remainder)
        *remainder = {.left_out = configs.size() - std::min(configs.size(), most), .rejections = count_by_reason(space.rejections)};
    if (configs.size() > most) configs.resize(most);
    std::vector<Candidate> candidates;
    for (const KernelConfig& config : configs) candidates.push_back(make_candidate(problem, config, device, book));
    number(candidates);
    return candidates;
}

void number(std::vector<Candidate>& candidates) {
    for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].order = static_cast<int>(i);
}

std::size_t most_candidates(const Turn& turn) {
    if (turn.share_seconds <= 0 && turn.most_candidates <= 0) return kAllCandidates;
    double most = kMostCandidates;
    if (turn.share_seconds > 0) most = std::min(most, turn.share_seconds * kCandidatesPerSecond);
    if (turn.most_candidates > 0) most = std::min(most, kOfferedPerMeasured * turn.most_candidates);
    return std::max(kFewestCandidates, static_cast<std::size_t>(most));
}

std::string search_hash(Effort effort, const std::vector<Candidate>& candidates) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const Candidate& candidate : candidates) {
        mix(hash, fields_text(candidate.config));
        mix(hash, " ");
        mix(hash, candidate.kernel_hash);
        mix(hash, "\n");
    }
    return fmt::format("{}:{:016x}", name_of(effort), hash);
}

std::optional<Effort> effort_of(const std::string& search_hash) {
    const std::string_view name = std::string_view(search_hash).substr(0, search_hash.find(':'));
    const auto found = std::find(std::begin(kEffortNames), std::end(kEffortNames), name);
    if (found == std::end(kEffortNames)) return std::nullopt;
    return static_cast<Effort>(found - std::begin(kEffortNames));
}

bool passed(const std::optional<Measurement>& result) {
    return result && result->outcome == Outcome::ok && result->median_us > 0;
}

std::vector<std::size_t> fastest_first(const std::vector<std::optional<Measurement>>& results) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (passed(results[i])) places.push_back(i);
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return results[a]->median_us < results[b]->median_us; });
    return places;
}

std::string_view name_of(Effort effort) {
    return kEffortNames[static_cast<int>(effort)];
}

Effort parse_effort(std::string_view text) {
    const auto found = std::find(std::begin(kEffortNames), std::end(kEffortNames), text);
    if (found == std::end(kEffortNames))
        throw Error(ExitStatus::usage, fmt::format("unknown effort '{}'", text), "--effort", "use quick, normal or full");
    return static_cast<Effort>(found - std::begin(kEffortNames));
}

}  // namespace tmm
