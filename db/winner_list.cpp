#include "db/winner_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "db/json_fields.h"
#include "db/text_table.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

std::string ratio_of_default(const WinnerRow& winner) {
    return winner.default_us > 0 && winner.median_us > 0 ? fmt::format("{:.2f}x", winner.default_us / winner.median_us) : "-";
}

Json winner_json(const WinnerRow& winner) {
    const bool is_timed = winner.median_us > 0;
    return {
        {"problem", to_text(winner.problem)},
        {"config", config_json(winner.config)},
        {"median_us", number_json(winner.median_us, is_timed)},
        {"tflops", number_json(is_timed ? flops(winner.problem) / winner.median_us * 1e-6 : 0, is_timed && winner.device != kEmulatedName)},
        {"error_ratio", number_json(winner.error_ratio, winner.error_ratio >= 0)},
        {"reason", with_short_configs(winner.reason)},
        {"origin", winner.origin}};
}

}  // namespace

std::vector<WinnerRow> winners_of(TuningDatabase& database, const DeviceFilter& devices) {
    auto winners = database.winners();
    std::erase_if(winners, [&](const WinnerRow& winner) { return !devices.takes(winner.device); });
    return winners;
}

std::vector<WinnerRow> shipped_winners_of(const DeviceFilter& devices) {
    auto winners = shipped_winners();
    std::erase_if(winners, [&](const WinnerRow& winner) { return !devices.takes(winner.device); });
    // As those of a database are.
    const auto place = [](const WinnerRow& winner) {
        const GemmProblem& p = winner.problem;
        return std::make_tuple(std::string_view(winner.device), p.type_a, flops(p), p.m, p.n, p.k);
    };
    std::ranges::stable_sort(winners, {}, place);
    return winners;
}

std::string winners_report(const std::vector<WinnerRow>& winners, const std::string& usual_origin, const ReportOptions& options) {
    std::string text;
    for (const auto& group : by_device(winners)) {
        TextTable table({{"shape"},
                         {"µs", true},
                         {"TFLOP/s", true, 2},
                         {"error/bound", true, 5},
                         {"vs default", true, 4},
                         {.head = "origin", .rank = 3},
                         {.head = "config", .fit = TableColumn::Fit::wraps},
                         {.head = "why", .wide = true}});
        const bool is_usual = std::all_of(group.begin(), group.end(),
                                          [&](const WinnerRow& winner) { return winner.origin == usual_origin && !winner.predicted; });
        for (const WinnerRow& winner : group)
            table.add({to_text(winner.problem), time_text(winner.median_us), tflops_text(winner.device, winner.problem, winner.median_us),
                       ratio_text(winner.error_ratio), ratio_of_default(winner),
                       winner.predicted ? "predicted"
                       : is_usual       ? "-"
                                        : winner.origin,
                       config_text(winner.config, options), with_short_configs(winner.reason)});
        text += (text.empty() ? "" : "\n") + device_line(group.front(), options) + table.text(options.screen);
    }
    return text;
}

std::string winners_json(const std::vector<WinnerRow>& winners) {
    Json devices = Json::array();
    for (const auto& group : by_device(winners)) {
        const WinnerRow& first = group.front();
        Json device = device_json(first.device, first.compute_capability, first.sm_count);
        device["problems"] = Json::array();
        for (const WinnerRow& winner : group) device["problems"].push_back(winner_json(winner));
        devices.push_back(device);
    }
    return json_text({{"devices", devices}});
}

}  // namespace tmm
