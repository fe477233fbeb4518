#include "db/report_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "db/json_fields.h"
#include "db/prediction.h"
#include "db/stale_winners.h"
#include "db/winner_difference.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

Json tflops_json(const std::string& device, const GemmProblem& problem, double us) {
    return number_json(us > 0 ? flops(problem) / us * 1e-6 : 0, us > 0 && device != kEmulatedName);
}

Json device_json(const WinnerRow& winner) {
    return tmm::device_json(winner.device, winner.compute_capability, winner.sm_count);
}
Json device_json(const DeviceInfo& device) {
    return tmm::device_json(device.name, device.compute_capability(), device.sm_count);
}

Json winner_json(const WinnerRow& winner) {
    return {{"problem", to_text(winner.problem)},
            {"config", config_json(winner.config)},
            {"median_us", number_json(winner.median_us, winner.median_us > 0)},
            {"tflops", tflops_json(winner.device, winner.problem, winner.median_us)},
            {"error_ratio", number_json(winner.error_ratio, winner.error_ratio >= 0)},
            {"reason", with_short_configs(winner.reason)},
            {"origin", winner.origin}};
}

std::string listing_json(const std::vector<WinnerRow>& winners) {
    Json devices = Json::array();
    for (const auto& group : by_device(winners)) {
        Json device = device_json(group.front());
        device["problems"] = Json::array();
        for (const WinnerRow& winner : group) device["problems"].push_back(winner_json(winner));
        devices.push_back(device);
    }
    return json_text({{"devices", devices}});
}

Json count_json(int count) {
    return count >= 0 ? Json(count) : Json(nullptr);
}

// The problem: as it was asked for; records of measurements serve every compute mode.
Json predicted_json(const GemmProblem& problem, const TuningRecord& record, const std::optional<DeviceInfo>& modelled) {
    const std::optional<PredictedTime> predicted = predicted_time(problem, record.config, modelled);
    if (!predicted) return nullptr;
    Json json = {{"total", predicted->total()}};
    for (const PredictedTerm& term : kPredictedTerms) json[term.name] = *predicted.*term.member;
    return json;
}

Json candidate_json(const GemmProblem& problem, const TuningRecord& record, const std::optional<DeviceInfo>& modelled) {
    const Measurement& m = record.measurement;
    const bool timed = m.median_us > 0;
    return {{"config", config_json(record.config)},
            {"outcome", name_of(m.outcome)},
            {"detail", m.detail},
            {"median_us", number_json(m.median_us, timed)},
            {"predicted_us", predicted_json(problem, record, modelled)},
            {"low_us", number_json(m.low_us, timed)},
            {"high_us", number_json(m.high_us, timed)},
            {"samples", m.samples},
            {"tflops", tflops_json(record.environment.device.name, record.problem, m.median_us)},
            {"error_ratio", number_json(m.error_ratio, m.error_ratio >= 0)},
            {"registers", count_json(m.registers)},
            {"spill_bytes", count_json(m.spill_bytes)},
            {"shared_bytes", m.shared_bytes},
            {"workspace_bytes", m.workspace_bytes},
            {"kernel_name", m.kernel_name},
            {"measured_at", record.time}};
}

Json decision_json(const GemmProblem& problem, const TuningRecord& decision, const std::optional<DeviceInfo>& modelled) {
    return {{"config", config_json(decision.config)},
            {"median_us", number_json(decision.measurement.median_us, decision.measurement.median_us > 0)},
            {"predicted_us", predicted_json(problem, decision, modelled)},
            {"tflops", tflops_json(decision.environment.device.name, decision.problem, decision.measurement.median_us)},
            {"reason", with_short_configs(decision.reason)},
            {"origin", decision.origin},
            {"candidates", decision.candidates},
            {"decided_at", decision.time}};
}

Json side_json(const std::optional<WinnerRow>& winner) {
    if (!winner) return nullptr;
    return {{"config", config_json(winner->config)}, {"median_us", number_json(winner->median_us, winner->median_us > 0)}};
}

// 13000 is version 13.0; the emulated device has neither driver nor NVRTC.
Json version_json(int version) {
    return version > 0 ? Json(fmt::format("{}.{}", version / 1000, version % 1000 / 10)) : Json(nullptr);
}

Json compared_json(const ComparedVersion& with) {
    return {{"version", version_json(with.version)}, {"source", with.version > 0 ? Json(name_of(with.source)) : Json(nullptr)}};
}

Json stale_winner_json(const StaleWinner& row) {
    Json changed = Json::array();
    if (row.staleness.driver) changed.push_back("driver");
    if (row.staleness.nvrtc) changed.push_back("nvrtc");
    if (row.staleness.kernels) changed.push_back("kernels");
    if (row.staleness.unmeasured) changed.push_back("unmeasured");
    return {{"problem", to_text(row.winner.problem)},
            {"config", config_json(row.winner.config)},
            {"median_us", number_json(row.winner.median_us, row.winner.median_us > 0)},
            {"decided_at", row.decision.time},
            {"driver", version_json(row.decision.driver_version)},
            {"nvrtc", version_json(row.decision.nvrtc_version)},
            {"changed", changed}};
}

}  // namespace

std::string winners_json(TuningDatabase& database, const ReportOptions& options) {
    return listing_json(winners_of(database, options));
}

std::string shipped_json(const ReportOptions& options) {
    return listing_json(shipped_winners_of(options));
}

std::string problem_json(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options) {
    Json devices = Json::array();
    for (const auto& known : look_up(database, problem, options.device)) {
        if (!known.decision && known.candidates.empty()) continue;
        std::map<Outcome, int> counts;
        for (const auto& candidate : known.candidates) ++counts[candidate.measurement.outcome];
        Json outcomes = Json::object();
        for (const auto& [outcome, count] : counts) outcomes[std::string(name_of(outcome))] = count;
        Json device = device_json(known.device);
        const auto measured = std::find_if(known.candidates.begin(), known.candidates.end(), [&](const TuningRecord& candidate) {
            return known.decision && candidate.config == known.decision->config;
        });
        device["profile"] = known.modelled && !known.device.emulated ? Json(origin_text(known.modelled->profile)) : Json(nullptr);
        device["winner"] = known.decision ? decision_json(problem, *known.decision, known.modelled) : Json(nullptr);
        device["measured"] = measured != known.candidates.end() ? candidate_json(problem, *measured, known.modelled) : Json(nullptr);
        device["outcomes"] = outcomes;
        devices.push_back(device);
    }
    if (devices.empty()) fail_untuned(database, problem, options.device);
    return json_text({{"problem", to_text(problem)}, {"devices", devices}});
}

std::string candidates_json(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options) {
    Json devices = Json::array();
    for (const auto& known : candidates_of(database, problem, options)) {
        Json device = device_json(known.device);
        device["candidates"] = Json::array();
        for (const auto& candidate : known.candidates) {
            Json json = candidate_json(problem, candidate, known.modelled);
            json["won"] = known.decision && known.decision->config == candidate.config;
            device["candidates"].push_back(json);
        }
        devices.push_back(device);
    }
    return json_text({{"problem", to_text(problem)}, {"devices", devices}});
}

std::string difference_json(TuningDatabase& a, TuningDatabase& b, const ReportOptions& options) {
    const WinnerDifference difference = winner_difference(a, b, options.device);
    Json pairs = Json::array();
    for (const WinnerPair& pair : difference.pairs) {
        Json json = device_json(pair.either());
        json["problem"] = to_text(pair.either().problem);
        json["a"] = side_json(pair.a);
        json["b"] = side_json(pair.b);
        json["ratio"] = number_json(pair.ratio(), pair.ratio() > 0);
        json["same_config"] = pair.same_config();
        pairs.push_back(json);
    }
    return json_text({{"problems", pairs},
                      {"both", difference.both},
                      {"different", difference.different},
                      {"only_a", difference.only_a},
                      {"only_b", difference.only_b},
                      {"geometric_mean", number_json(difference.mean_ratio, difference.timed > 0)}});
}

std::string stale_json(const std::vector<StaleWinners>& devices) {
    Json json = Json::array();
    for (const StaleWinners& known : devices) {
        Json device = device_json(known.winners.front());
        device["winners"] = known.winners.size();
        device["driver"] = compared_json(known.driver);
        device["nvrtc"] = compared_json(known.nvrtc);
        device["compares_kernels"] = known.compares_kernels;
        device["stale"] = Json::array();
        for (const StaleWinner& row : known.stale) device["stale"].push_back(stale_winner_json(row));
        json.push_back(device);
    }
    return json_text({{"devices", json}});
}

std::string verification_json(const std::filesystem::path& file, const std::vector<std::string>& faults, std::size_t measurements,
                              std::size_t decisions) {
    return json_text({{"database", file.string()},
                      {"sound", faults.empty()},
                      {"faults", faults},
                      {"measurements", measurements},
                      {"decisions", decisions}});
}

}  // namespace tmm
