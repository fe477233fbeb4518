#include "tuner/run/report.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/printable.h"
#include "base/text/text_table.h"
#include "base/text/text_width.h"
#include "db/store/fields.h"
#include "generator/text/text.h"
#include "tuner/progress/progress.h"
#include "tuner/search/candidates.h"
#include "tuner/search/run_report.h"

namespace tmm {
namespace {

std::string_view name_of(ProblemState state) {
    switch (state) {
        case ProblemState::decided_before: return "decided_before";
        case ProblemState::decided: return "decided";
        case ProblemState::cut_short: return "cut_short";
        case ProblemState::no_winner: return "no_winner";
        case ProblemState::predicted: return "predicted";
        case ProblemState::not_reached: return "not_reached";
    }
    return "?";
}

// The emulated device has none.
Json profile_json(const DeviceReport& device) {
    if (device.device.emulated) return nullptr;
    Json rates = nullptr;
    if (device.rates)
        for (const RateField& field : kRateFields)
            rates[field.name] = number_json(*device.rates.*field.member, *device.rates.*field.member > 0);
    return {{"origin", origin_text(device.device.profile)}, {"rates", rates}};
}

int gpus(const RunReport& report) {
    int count = 0;
    for (const DeviceReport& device : report.devices) count += device.device.emulated ? 0 : device.workers;
    return count;
}

// What was never begun is counted, and not listed: a run of a million problems may be interrupted at the first.
bool was_not_reached(const ProblemReport& problem) {
    return problem.state == ProblemState::not_reached && problem.decision.reason.empty();
}

// Counts outcomes that a correct kernel never has.
int wrong_results(const ProblemReport& problem) {
    int count = 0;
    for (const auto& [outcome, candidates] : problem.failed)
        if (outcome == Outcome::wrong_result || outcome == Outcome::inaccurate) count += candidates;
    return count;
}

}  // namespace

std::string summary_text(const RunReport& report) {
    int problems = 0;
    int winners = 0;
    int before = 0;
    int cut = 0;
    int cut_before = 0;
    int predicted = 0;
    int wrong = 0;
    for (const DeviceReport& device : report.devices) {
        problems += static_cast<int>(device.not_looked_at);
        for (const ProblemReport& problem : device.problems) {
            ++problems;
            winners += problem.has_winner() ? 1 : 0;
            before += problem.state == ProblemState::decided_before ? 1 : 0;
            cut_before += problem.state == ProblemState::decided_before && problem.cut_before ? 1 : 0;
            cut += problem.state == ProblemState::cut_short ? 1 : 0;
            predicted += problem.state == ProblemState::predicted ? 1 : 0;
            wrong += wrong_results(problem);
        }
    }
    std::string text;
    if (problems > 0 && before == problems) {
        text = problems == 1 ? "nothing to measure: the problem has a verified winner"
                             : fmt::format("nothing to measure: all {} problems have verified winners", problems);
    } else {
        text = fmt::format("{} measured in {}; {} of {} {} a verified winner",
                           count_text(static_cast<std::size_t>(report.measured_now()), "candidate"), duration_text(report.seconds), winners,
                           count_text(static_cast<std::size_t>(problems), "problem"), problems == 1 ? "has" : "have");
        if (before > 0) text += fmt::format(", {} of them from earlier runs", before);
    }
    if (const auto busy = report.busy(); busy && report.measured_now() > 0)
        text += fmt::format("; the {} busy {:.0f}% of the time", gpus(report) == 1 ? "GPU was" : "GPUs were", 100 * *busy);
    if (predicted > 0)
        text += fmt::format("; the budget did not reach {}, which {} a predicted config that nobody measured: run again without --budget",
                            count_text(static_cast<std::size_t>(predicted), "problem"), predicted == 1 ? "has" : "have");
    if (wrong > 0)
        text += fmt::format("; {} gave wrong results and can't win: see tmm-db candidates",
                            count_text(static_cast<std::size_t>(wrong), "candidate"));
    if (cut_before > 0) text += fmt::format("; {} cut short by an earlier budget: run without --budget to measure the rest", cut_before);
    if (cut > 0) text += fmt::format("; {} cut short by the budget: run again without --budget to measure the rest", cut);
    if (report.interrupted) text += "; interrupted: run again to go on from here";
    return text;
}

std::string table_text(const RunReport& report, const Screen& screen) {
    std::string text;
    for (const DeviceReport& device : report.devices) {
        text += prose(device_text(device.device), screen);
        TextTable table({{"shape"},
                         {"µs", true},
                         {"TFLOP/s", true, 2},
                         {"error/bound", true, 3},
                         {"vs default", true, 1},
                         {"candidates", true, 4},
                         {.head = "config", .fit = TableColumn::Fit::wraps}});
        std::string others;
        std::size_t not_reached = device.not_looked_at;
        for (const ProblemReport& p : device.problems) {
            if (was_not_reached(p)) {
                ++not_reached;
                continue;
            }
            if (p.state == ProblemState::predicted) {
                table.add({to_text(p.shape), "predicted", "-", "-", "-", "0",
                           screen.wide ? fields_text(p.decision.config) : to_text(p.decision.config)});
                continue;
            }
            if (!p.has_winner()) {
                others += prose(fmt::format("{}: {}", to_text(p.shape), p.decision.reason), screen);
                continue;
            }
            table.add({to_text(p.shape), short_number(p.decision.median_us), device.device.emulated ? "-" : short_number(p.tflops()),
                       p.error_ratio >= 0 ? short_number(p.error_ratio) : "-",
                       p.vs_default() > 0 ? fmt::format("{:.2f}x", p.vs_default()) : "-", std::to_string(p.decision.candidates),
                       screen.wide ? fields_text(p.decision.config) : to_text(p.decision.config)});
        }
        if (!table.empty()) text += table.text(screen);
        if (not_reached > 0)
            others += prose(
                fmt::format("{} of {}: not reached", not_reached, count_text(device.problems.size() + device.not_looked_at, "problem")),
                screen);
        text += others + "\n";
    }
    return text + prose(summary_text(report), screen);
}

std::string json_text(const RunReport& report, const std::filesystem::path& database) {
    Json devices = Json::array();
    for (const DeviceReport& device : report.devices) {
        Json problems = Json::array();
        std::size_t not_reached = device.not_looked_at;
        for (const ProblemReport& p : device.problems) {
            if (was_not_reached(p)) {
                ++not_reached;
                continue;
            }
            Json problem{{"problem", to_text(p.shape)}, {"line", p.shape.line}, {"state", name_of(p.state)}};
            if (p.has_winner() || p.state == ProblemState::predicted) problem["config"] = config_json(p.decision.config);
            if (p.has_winner()) {
                problem["median_us"] = p.decision.median_us;
                problem["tflops"] = number_json(p.tflops(), !device.device.emulated);
                problem["error_ratio"] = p.error_ratio >= 0 ? Json(p.error_ratio) : Json(nullptr);
                problem["default_us"] = p.decision.default_us > 0 ? Json(p.decision.default_us) : Json(nullptr);
                problem["vs_default"] = p.vs_default() > 0 ? Json(p.vs_default()) : Json(nullptr);
                problem["runner_up"] = p.decision.runner_up ? Json(to_text(*p.decision.runner_up)) : Json(nullptr);
                problem["runner_up_us"] = p.decision.runner_up_us > 0 ? Json(p.decision.runner_up_us) : Json(nullptr);
            }
            problem["candidates"] = p.decision.candidates;
            problem["measured_now"] = p.measured_now;
            Json failed = Json::object();
            for (const auto& [outcome, count] : p.failed) failed[std::string(tmm::name_of(outcome))] = count;
            problem["failed"] = failed;
            problem["rejections"] = rejections_json(p.rejections);
            problem["reason"] = p.decision.reason;
            problems.push_back(problem);
        }
        devices.push_back({{"device", device.device.name},
                           {"compute_capability", device.device.compute_capability()},
                           {"sm_count", device.device.sm_count},
                           {"profile", profile_json(device)},
                           {"problems", problems},
                           {"not_reached", not_reached}});
    }
    const auto busy = report.busy();
    const Json json{{"devices", devices},
                    {"database", database.string()},
                    {"measured_now", report.measured_now()},
                    {"seconds", report.seconds},
                    {"busy", busy ? Json(*busy) : Json(nullptr)},
                    {"interrupted", report.interrupted},
                    {"summary", summary_text(report)}};
    return json_text(json);
}

std::string device_text(const DeviceInfo& device) {
    if (device.emulated) return "host (emulated on the CPU; its times say nothing about a GPU)";
    return fmt::format("{} (sm_{}, {} SMs)", device.name, device.compute_capability(), device.sm_count);
}

std::string count_text(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Json rejections_json(const std::map<std::string, int>& rejections) {
    Json reasons = Json::array();
    for (const auto& [reason, count] : by_count(rejections)) reasons.push_back({{"reason", reason}, {"count", count}});
    return reasons;
}

std::string prose(const std::string& text, const Screen& screen, std::size_t indent) {
    return hanging(printable(text), screen.wide ? 0 : screen.columns, indent) + "\n";
}

}  // namespace tmm
