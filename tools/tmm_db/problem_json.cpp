// The JSON of show and candidates.
#include <algorithm>
#include <map>

#include "db/machine/prediction.h"
#include "db/store/fields.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"
#include "tools/tmm_db/problem_report.h"

namespace tmm {
namespace {

Json tflops_json(const std::string& device, const GemmProblem& problem, double us) {
    return number_json(us > 0 ? flops(problem) / us * 1e-6 : 0, us > 0 && device != kEmulatedName);
}

Json time_json(double us) {
    return number_json(us, us > 0);
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
    const double us = decision.measurement.median_us;
    const Environment& environment = decision.environment;
    const bool is_compared = us > 0 && decision.default_us > 0;
    return {{"config", config_json(decision.config)},
            {"median_us", time_json(us)},
            {"predicted_us", predicted_json(problem, decision.config, modelled)},
            {"tflops", tflops_json(environment.device.name, decision.problem, us)},
            {"default_us", time_json(decision.default_us)},
            {"vs_default", number_json(is_compared ? decision.default_us / us : 0, is_compared)},
            {"runner_up", decision.runner_up ? Json(to_text(*decision.runner_up)) : Json(nullptr)},
            {"runner_up_us", time_json(decision.runner_up_us)},
            {"reason", with_short_configs(decision.reason)},
            {"origin", decision.origin},
            {"predicted", decision.predicted},
            {"compute", name_of(decision.problem.compute)},
            {"candidates", decision.candidates},
            {"driver_version", count_json(environment.device.driver_version)},
            {"nvrtc_version", count_json(environment.nvrtc_version)},
            {"decided_at", decision.time}};
}

Json choice_json(const ProblemOnDevice& known, const GemmProblem& problem) {
    if (!known.choice) return nullptr;
    const LibraryChoice& choice = *known.choice;
    return {{"config", config_json(choice.config)},
            {"match", choice.match},
            {"median_us", time_json(choice.measured_us)},
            {"predicted_us", predicted_json(problem, choice.config, known.modelled)},
            {"reason", choice.why}};
}

Json known_json(const ProblemOnDevice& known, const GemmProblem& problem) {
    Json outcomes = Json::object();
    for (const auto& [outcome, count] : known.outcomes()) outcomes[std::string(name_of(outcome))] = count;
    const TuningRecord* const serving = known.serving();
    const TuningRecord* const measured = serving ? known.candidate(serving->config) : nullptr;
    const bool is_own = known.decision && serving == &*known.decision;
    Json device = device_json(known.device);
    device["profile"] = known.modelled ? Json(origin_text(known.modelled->profile)) : Json(nullptr);
    device["winner"] = serving ? decision_json(problem, *serving, known.modelled) : Json(nullptr);
    device["own_winner"] = known.decision && !is_own ? decision_json(problem, *known.decision, known.modelled) : Json(nullptr);
    device["measured"] = measured ? candidate_json(problem, *measured, known.modelled) : Json(nullptr);
    device["outcomes"] = outcomes;
    device["runs"] = choice_json(known, problem);
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
        const TuningRecord* const serving = known.serving();
        Json device = device_json(known.device);
        device["candidates"] = Json::array();
        for (const auto& candidate : known.candidates) {
            Json row = candidate_json(problem, candidate, known.modelled);
            row["won"] = serving && serving->config == candidate.config;
            device["candidates"].push_back(row);
        }
        json.push_back(device);
    }
    return json_text({{"problem", to_text(problem)}, {"devices", json}});
}

}  // namespace tmm
