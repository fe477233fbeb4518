#include "tools/tmm_db/html_report/report_content.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "db/machine/prediction.h"
#include "db/store/fields.h"
#include "db/store/records.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"
#include "tools/tmm_db/winner_list.h"

namespace tmm {
namespace {

using Candidate = ReportContent::Candidate;
using Group = ReportContent::Group;

struct ConfigOrder {
    bool operator()(const KernelConfig& x, const KernelConfig& y) const { return std::memcmp(&x, &y, sizeof x) < 0; }
};

GemmProblem in_default_mode(GemmProblem problem) {
    problem.compute = default_compute(problem.type_a);
    return problem;
}

std::optional<Ceilings> ceilings_of(const DeviceInfo& device, const std::optional<Ceilings>& measured) {
    if (device.emulated) return std::nullopt;
    const std::optional<Ceilings> known = known_ceilings(device.name);
    if (!measured || measured->device != device.name) return known;
    return known ? higher(*known, *measured) : *measured;
}

auto rank(const Candidate& candidate) {
    const Measurement& m = candidate.measurement;
    return std::make_tuple(m.outcome != Outcome::ok, m.median_us <= 0, m.median_us, static_cast<int>(m.outcome));
}

// The largest size of a group for which all together hold no more than `most`.
std::size_t largest_group(const std::vector<Group>& groups, std::size_t most) {
    std::vector<std::size_t> sizes;
    for (const auto& group : groups) sizes.push_back(group.candidates.size());
    std::sort(sizes.begin(), sizes.end());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t share = most / (sizes.size() - i);
        if (sizes[i] > share) return share;
        most -= sizes[i];
    }
    return sizes.empty() ? 0 : sizes.back();
}

// Half of the candidates that stay are the foremost, the rest is drawn evenly from the others.
void thin_out(std::vector<Candidate>& candidates, std::size_t most) {
    if (candidates.size() <= most) return;
    const std::size_t whole = (most + 1) / 2, drawn = most - whole, others = candidates.size() - whole;
    for (std::size_t i = 0; i < drawn; ++i) candidates[whole + i] = candidates[whole + i * others / drawn];
    candidates.resize(most);
}

void predict(Group& group, const ReportContent::Device& device) {
    if (!device.modelled) return;
    const CostModel model(group.problem, *device.modelled);
    for (auto& candidate : group.candidates)
        if (!why_invalid(group.problem, candidate.config, *device.modelled)) candidate.predicted_us = model.estimate(candidate.config);
}

class Reader {
public:
    Reader(TuningDatabase& database, const HtmlReportOptions& options) : database_(database), options_(options) {}

    ReportContent read() {
        read_records();
        read_winners();
        for (auto& group : content_.groups) finish(group);
        read_unfinished_runs();
        sort_failures();
        const std::size_t most = largest_group(content_.groups, options_.most_candidates);
        for (auto& group : content_.groups) {
            thin_out(group.candidates, most);
            predict(group, content_.devices[group.device]);
        }
        return std::move(content_);
    }

private:
    // A device's place, and a problem's text.
    using Key = std::pair<std::size_t, std::string>;
    // Device, outcome, family and reason without its numbers.
    using FailureKey = std::tuple<std::size_t, std::string, int, std::string>;

    void read_records() {
        for (auto& record : database_.records()) {
            const DeviceInfo& device = record.environment.device;
            if (!record.policy.decides_winners() || !options_.devices.takes(device.name)) continue;
            const Key key{place_of(device), to_text(record.problem)};
            if (record.kind == TuningRecord::Kind::selection) {
                chosen_from_[key] = record.candidates;
                continue;
            }
            const auto [place, is_new] = groups_.emplace(key, content_.groups.size());
            if (is_new) {
                content_.groups.push_back({.device = key.first, .problem = record.problem});
                measured_.emplace_back();
            }
            // The oldest comes first: a later one replaces it.
            measured_[place->second][record.config] = std::move(record.measurement);
        }
    }

    std::size_t place_of(const DeviceInfo& device) {
        auto& devices = content_.devices;
        const auto found = std::find_if(devices.begin(), devices.end(), [&](const ReportContent::Device& known) {
            return known.info.name == device.name && known.info.compute_capability() == device.compute_capability() &&
                   known.info.sm_count == device.sm_count;
        });
        const auto place = static_cast<std::size_t>(found - devices.begin());
        if (found == devices.end())
            devices.push_back(
                {.info = device, .modelled = modelled_device(device, database_), .ceilings = ceilings_of(device, options_.ceilings)});
        return place;
    }

    void read_winners() {
        for (auto& row : database_.winners()) {
            if (!options_.devices.takes(row.device)) continue;
            ReportContent::Winner winner{.device = place_of(device_of(model_of(row)))};
            const auto group = groups_.find({winner.device, to_text(in_default_mode(row.problem))});
            if (group != groups_.end()) winner.group = group->second;
            winner.candidates = chosen_from_[{winner.device, to_text(row.problem)}];
            winner.row = listed(std::move(row), options_.choose).row;
            content_.winners.push_back(std::move(winner));
        }
    }

    void finish(Group& group) {
        const auto place = static_cast<std::size_t>(&group - content_.groups.data());
        for (auto& [config, measurement] : measured_[place]) {
            if (measurement.outcome != Outcome::ok)
                count_failure(group.device, group.problem, config, std::string(name_of(measurement.outcome)), measurement.detail);
            group.candidates.push_back({.config = config, .measurement = std::move(measurement)});
        }
        group.measured = group.candidates.size();
        std::stable_sort(group.candidates.begin(), group.candidates.end(),
                         [](const Candidate& x, const Candidate& y) { return rank(x) < rank(y); });
    }

    void read_unfinished_runs() {
        for (std::size_t device = 0; device < content_.devices.size(); ++device) {
            database_.set_environment({.device = content_.devices[device].info});
            for (const auto& run : database_.unfinished_runs())
                count_failure(device, run.problem, run.config, "unfinished",
                              run.is_elsewhere        ? "another host announced it, and nothing was reported"
                              : run.machine_restarted ? "the machine restarted before it reported"
                                                      : "its process ended before it reported");
        }
    }

    void count_failure(std::size_t device, const GemmProblem& problem, const KernelConfig& config, const std::string& outcome,
                       const std::string& detail) {
        const std::string reason = one_line(detail, ReportContent::kReasonLimit);
        const auto [place, is_new] =
            failures_.emplace(FailureKey{device, outcome, config.family, without_numbers(reason)}, content_.failures.size());
        if (is_new)
            content_.failures.push_back({.device = device, .outcome = outcome, .problem = problem, .config = config, .reason = reason});
        ++content_.failures[place->second].count;
    }

    void sort_failures() {
        std::stable_sort(content_.failures.begin(), content_.failures.end(),
                         [](const auto& x, const auto& y) { return x.count > y.count; });
    }

    TuningDatabase& database_;
    const HtmlReportOptions& options_;
    ReportContent content_;
    // The measurements by place of the group.
    std::vector<std::map<KernelConfig, Measurement, ConfigOrder>> measured_;
    std::map<Key, std::size_t> groups_;
    std::map<Key, int> chosen_from_;
    std::map<FailureKey, std::size_t> failures_;
};

}  // namespace

ReportContent read_report_content(TuningDatabase& database, const HtmlReportOptions& options) {
    return Reader(database, options).read();
}

}  // namespace tmm
