#include "tuner/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "generator/text.h"
#include "tuner/progress.h"

namespace tmm {
namespace {

using Json = nlohmann::ordered_json;

// Rejections speak of sizes, so that there are many reasons; most say the same.
constexpr std::size_t kReasonsShown = 8;

std::string_view name_of(ProblemState state) {
    switch (state) {
        case ProblemState::decided_before: return "decided_before";
        case ProblemState::decided: return "decided";
        case ProblemState::cut_short: return "cut_short";
        case ProblemState::no_winner: return "no_winner";
        case ProblemState::not_reached: return "not_reached";
    }
    return "?";
}

std::string device_text(const DeviceInfo& device) {
    if (device.emulated) return "host (emulated on the CPU; its times say nothing about a GPU)";
    return fmt::format("{} (sm_{}, {} SMs)", device.name, device.compute_capability(), device.sm_count);
}

// Columns as wide as their widest cell; the first and the last to the left, the others to the right.
std::string columns_text(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    // "µ" takes two bytes and one column.
    const auto columns = [](const std::string& cell) {
        return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    };
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    }
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string padding(widths[i] - columns(row[i]), ' ');
            if (i > 0) text += "  ";
            if (i + 1 == row.size())
                text += row[i];
            else
                text += i == 0 ? row[i] + padding : padding + row[i];
        }
        text += '\n';
    }
    return text;
}

std::string count_text(int count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Reasons and how often each was given, most frequent first.
std::vector<std::pair<std::string, int>> reasons_of(const std::vector<Rejection>& rejections) {
    std::map<std::string, int> counts;
    for (const Rejection& rejection : rejections) ++counts[rejection.reason];
    std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

}  // namespace

std::string summary_text(const RunReport& report) {
    int problems = 0;
    int winners = 0;
    int before = 0;
    int cut = 0;
    for (const DeviceReport& device : report.devices) {
        for (const ProblemReport& problem : device.problems) {
            ++problems;
            winners += problem.has_winner() ? 1 : 0;
            before += problem.state == ProblemState::decided_before ? 1 : 0;
            cut += problem.state == ProblemState::cut_short ? 1 : 0;
        }
    }
    if (problems > 0 && before == problems)
        return problems == 1 ? "nothing to measure: the problem has a verified winner"
                             : fmt::format("nothing to measure: all {} problems have verified winners", problems);
    std::string text = fmt::format("{} measured in {}; {} of {} have a verified winner", count_text(report.measured_now(), "candidate"),
                                   duration_text(report.seconds), winners, count_text(problems, "problem"));
    if (before > 0) text += fmt::format(", {} of them from earlier runs", before);
    if (cut > 0) text += fmt::format("; {} cut short by the budget: run again without --budget to measure the rest", cut);
    if (report.interrupted) text += "; interrupted: run again to go on from here";
    return text;
}

std::string table_text(const RunReport& report) {
    std::string text;
    for (const DeviceReport& device : report.devices) {
        text += device_text(device.device) + "\n";
        std::vector<std::vector<std::string>> rows{{"shape", "µs", "TFLOP/s", "error", "vs default", "candidates", "config"}};
        std::string others;
        for (const ProblemReport& p : device.problems) {
            if (!p.has_winner()) {
                others += fmt::format("{}: {}\n", to_text(p.shape.problem), p.reason.empty() ? "not reached" : p.reason);
                continue;
            }
            rows.push_back({to_text(p.shape.problem), fmt::format("{:.2f}", p.median_us), fmt::format("{:.3g}", p.tflops()),
                            p.error_ratio >= 0 ? fmt::format("{:.3f}", p.error_ratio) : "-",
                            p.speed_up_over_default > 0 ? fmt::format("{:.2f}x", p.speed_up_over_default) : "-",
                            std::to_string(p.candidates), to_text(p.config)});
        }
        if (rows.size() > 1) text += columns_text(rows);
        text += others + "\n";
    }
    return text + summary_text(report) + "\n";
}

std::string json_text(const RunReport& report, const std::filesystem::path& database) {
    Json devices = Json::array();
    for (const DeviceReport& device : report.devices) {
        Json problems = Json::array();
        for (const ProblemReport& p : device.problems) {
            Json problem{{"problem", to_text(p.shape.problem)}, {"line", p.shape.line}, {"state", name_of(p.state)}};
            if (p.has_winner()) {
                Json config = Json::object();
                for (const Parameter& parameter : kParameters) {
                    const int value = p.config.*parameter.member;
                    if (parameter.value_names)
                        config[parameter.name] = parameter.value_names[value];
                    else
                        config[parameter.name] = value;
                }
                problem["config"] = config;
                problem["median_us"] = p.median_us;
                problem["tflops"] = p.tflops();
                problem["error_ratio"] = p.error_ratio >= 0 ? Json(p.error_ratio) : Json(nullptr);
                problem["speed_up_over_default"] = p.speed_up_over_default > 0 ? Json(p.speed_up_over_default) : Json(nullptr);
            }
            problem["candidates"] = p.candidates;
            problem["measured_now"] = p.measured_now;
            Json rejected = Json::object();
            for (const auto& [outcome, count] : p.rejected) rejected[std::string(tmm::name_of(outcome))] = count;
            problem["rejected"] = rejected;
            problem["reason"] = p.reason;
            problems.push_back(problem);
        }
        devices.push_back({{"device", device.device.name},
                           {"compute_capability", device.device.compute_capability()},
                           {"sm_count", device.device.sm_count},
                           {"problems", problems}});
    }
    const Json json{{"devices", devices},        {"database", database.string()},     {"measured_now", report.measured_now()},
                    {"seconds", report.seconds}, {"interrupted", report.interrupted}, {"summary", summary_text(report)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string table_text(const DryRun& dry_run) {
    std::string text = device_text(dry_run.device) + "\n";
    std::size_t candidates = 0;
    for (const DryRun::Problem& problem : dry_run.problems) {
        candidates += problem.space.candidates.size();
        text += fmt::format("{}: {}, {} rejected\n", to_text(problem.shape.problem),
                            count_text(static_cast<int>(problem.space.candidates.size()), "candidate"), problem.space.rejections.size());
        const auto reasons = reasons_of(problem.space.rejections);
        for (std::size_t i = 0; i < std::min(reasons.size(), kReasonsShown); ++i)
            text += fmt::format("  {:5} x {}\n", reasons[i].second, reasons[i].first);
        if (reasons.size() > kReasonsShown)
            text += fmt::format("  and {} rarer reasons (--json lists them)\n", reasons.size() - kReasonsShown);
    }
    return text + fmt::format("{} of {}; nothing was measured\n", count_text(static_cast<int>(candidates), "candidate"),
                              count_text(static_cast<int>(dry_run.problems.size()), "problem"));
}

std::string json_text(const DryRun& dry_run) {
    Json problems = Json::array();
    for (const DryRun::Problem& problem : dry_run.problems) {
        Json configs = Json::array();
        for (const KernelConfig& config : problem.space.candidates) configs.push_back(to_text(config));
        Json reasons = Json::array();
        for (const auto& [reason, count] : reasons_of(problem.space.rejections)) reasons.push_back({{"reason", reason}, {"count", count}});
        problems.push_back({{"problem", to_text(problem.shape.problem)},
                            {"line", problem.shape.line},
                            {"candidates", configs},
                            {"rejected", problem.space.rejections.size()},
                            {"rejections", reasons}});
    }
    return Json{{"device", dry_run.device.name}, {"problems", problems}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tmm
