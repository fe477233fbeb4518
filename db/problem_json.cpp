// The JSON of show and candidates.
#include <algorithm>
#include <map>

#include "db/json_fields.h"
#include "db/prediction.h"
#include "db/problem_report.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

Json tflops_json(const std::string& device, const GemmProblem& problem, double us) {
    return number_json(us > 0 ? flops(problem) / us * 1e-6 : 0, us > 0 && device != kEmulatedName);
}

Json device_json(const DeviceInfo& device) {
    return tmm::device_json(device.name, device.compute_capability(), device.sm_count);
}

Json count_json(int count) {
    return count >= 0 ? Json(count) : Json(nullptr);
}

// The problem: as it was asked for; records of measurements serve every compute mode.
Json predicted_json(const GemmProblem& problem, const KernelConfig& config, const std::optional<DeviceInfo>& modelled) {
    const std::optional<PredictedTime> predicted = predicted_time(problem, config, modelled);
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
            {"predicted_us", predicted_json(problem, record.config, modelled)},
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
            {"predicted_us", predicted_json(problem, decision.config, modelled)},
            {"tflops", tflops_json(decision.environment.device.name, decision.problem, decision.measurement.median_us)},
            {"reason", with_short_configs(decision.reason)},
            {"origin", decision.origin},
            {"candidates", decision.candidates},
            {"decided_at", decision.time}};
}

Json known_json(const ProblemOnDevice& known, const GemmProblem& problem) {
    std::map<Outcome, int> counts;
    for (const auto& candidate : known.candidates) ++counts[candidate.measurement.outcome];
    Json outcomes = Json::object();
    for (const auto& [outcome, count] : counts) outcomes[std::string(name_of(outcome))] = count;
    const auto measured = std::ranges::find_if(
        known.candidates, [&](const TuningRecord& candidate) { return known.decision && candidate.config == known.decision->config; });
    Json device = device_json(known.device);
    device["profile"] = known.modelled && !known.device.emulated ? Json(origin_text(known.modelled->profile)) : Json(nullptr);
    device["winner"] = known.decision ? decision_json(problem, *known.decision, known.modelled) : Json(nullptr);
    device["measured"] = measured != known.candidates.end() ? candidate_json(problem, *measured, known.modelled) : Json(nullptr);
    device["outcomes"] = outcomes;
    return device;
}

}  // namespace

std::string problem_json(const std::vector<ProblemOnDevice>& devices, const GemmProblem& problem) {
    Json json = Json::array();
    for (const ProblemOnDevice& known : devices) json.push_back(known_json(known, problem));
    return json_text({{"problem", to_text(problem)}, {"devices", json}});
}

std::string candidates_json(const std::vector<ProblemOnDevice>& devices, const GemmProblem& problem) {
    Json json = Json::array();
    for (const ProblemOnDevice& known : devices) {
        Json device = device_json(known.device);
        device["candidates"] = Json::array();
        for (const auto& candidate : known.candidates) {
            Json row = candidate_json(problem, candidate, known.modelled);
            row["won"] = known.decision && known.decision->config == candidate.config;
            device["candidates"].push_back(row);
        }
        json.push_back(device);
    }
    return json_text({{"problem", to_text(problem)}, {"devices", json}});
}

}  // namespace tmm
