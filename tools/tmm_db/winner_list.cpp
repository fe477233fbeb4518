#include "tools/tmm_db/winner_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text/text_table.h"
#include "db/store/fields.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

bool is_same_winner(const WinnerRow& x, const WinnerRow& y) {
    return x.problem == y.problem && x.config == y.config && x.origin == y.origin && x.predicted == y.predicted;
}

double vs_default(const WinnerRow& winner) {
    return winner.median_us > 0 ? winner.default_us / winner.median_us : 0;
}

std::vector<std::vector<ListedWinner>> groups_of(const std::vector<ListedWinner>& winners) {
    std::vector<std::vector<ListedWinner>> groups;
    for (const ListedWinner& winner : winners) {
        const auto same =
            std::ranges::find_if(groups, [&](const auto& group) { return model_of(group.front().row) == model_of(winner.row); });
        (same == groups.end() ? groups.emplace_back() : *same).push_back(winner);
    }
    return groups;
}

Json winner_json(const ListedWinner& winner) {
    const WinnerRow& row = winner.row;
    const bool is_timed = row.median_us > 0;
    return {{"problem", to_text(row.problem)},
            {"config", config_json(row.config)},
            {"median_us", number_json(row.median_us, is_timed)},
            {"tflops", number_json(is_timed ? flops(row.problem) / row.median_us * 1e-6 : 0, is_timed && row.device != kEmulatedName)},
            {"error_ratio", number_json(row.error_ratio, row.error_ratio >= 0)},
            {"default_us", number_json(row.default_us, row.default_us > 0)},
            {"vs_default", number_json(vs_default(row), vs_default(row) > 0)},
            {"reason", with_short_configs(row.reason)},
            {"origin", row.origin},
            {"predicted", row.predicted},
            {"served_by", winner.served_by.empty() ? Json(nullptr) : Json(winner.served_by)}};
}

}  // namespace

ListedWinner listed(WinnerRow row, const LibraryChooser& choose) {
    const ChoiceFrom from = row.predicted ? ChoiceFrom::winners_of_the_problem : ChoiceFrom::all;
    const std::optional<LibraryChoice> choice = choose ? choose(model_of(row), row.problem, from) : std::nullopt;
    if (!choice) return {std::move(row), {}};
    if (choice->winner) {
        if (is_same_winner(*choice->winner, row)) return {std::move(row), {}};
        WinnerRow serving = *choice->winner;
        const bool other_mode = serving.problem.compute != row.problem.compute;
        const std::string by(other_mode ? name_of(serving.problem.compute) : std::string_view(serving.origin));
        const std::string own = row.predicted ? "its own was not measured"
                                              : fmt::format("its own takes {} µs, {}", short_number(row.median_us), to_text(row.config));
        serving.reason = fmt::format("the {} winner serves it, {}: {}", by, own, serving.reason);
        serving.problem = row.problem;
        return {std::move(serving), by};
    }
    if (choice->config == row.config) return {std::move(row), {}};
    row.config = choice->config;
    row.median_us = choice->measured_us;
    row.default_us = 0;
    row.error_ratio = -1;
    row.reason = choice->why;
    return {std::move(row), choice->match};
}

std::vector<ListedWinner> listed(const std::vector<WinnerRow>& rows, const LibraryChooser& choose) {
    std::vector<ListedWinner> winners;
    for (const WinnerRow& row : rows) winners.push_back(listed(row, choose));
    return winners;
}

std::vector<WinnerRow> winners_of(TuningDatabase& database, const DeviceFilter& devices) {
    auto winners = database.winners();
    std::erase_if(winners, [&](const WinnerRow& winner) { return !devices.takes(winner.device); });
    return winners;
}

std::vector<WinnerRow> shipped_winners_of(const DeviceFilter& devices) {
    auto winners = shipped_winners();
    std::erase_if(winners, [&](const WinnerRow& winner) { return !devices.takes(winner.device); });
    const auto place = [](const WinnerRow& winner) {
        const GemmProblem& p = winner.problem;
        return std::make_tuple(std::string_view(winner.device), p.type_a, flops(p), p.m, p.n, p.k);
    };
    std::ranges::stable_sort(winners, {}, place);
    return winners;
}

std::string winners_report(const std::vector<ListedWinner>& winners, const std::string& usual_origin, const ReportOptions& options) {
    std::string text;
    for (const auto& group : groups_of(winners)) {
        TextTable table({{"shape"},
                         {"µs", true},
                         {"TFLOP/s", true, 2},
                         {"error/bound", true, 5},
                         {"vs default", true, 4},
                         {.head = "origin", .rank = 3},
                         {.head = "served by", .rank = 1},
                         {.head = "config", .fit = TableColumn::Fit::wraps},
                         {.head = "why", .wide = true}});
        const bool is_usual = std::ranges::all_of(
            group, [&](const ListedWinner& winner) { return winner.row.origin == usual_origin && !winner.row.predicted; });
        for (const auto& [row, served_by] : group)
            table.add({to_text(row.problem), time_text(row.median_us), tflops_text(row.device, row.problem, row.median_us),
                       ratio_text(row.error_ratio), vs_default(row) > 0 ? fmt::format("{:.2f}x", vs_default(row)) : "-",
                       row.predicted ? "predicted"
                       : is_usual    ? "-"
                                     : row.origin,
                       served_by.empty() ? "-" : served_by, config_text(row.config, options), with_short_configs(row.reason)});
        text += (text.empty() ? "" : "\n") + device_line(group.front().row, options) + table.text(options.screen);
    }
    return text;
}

std::string winners_json(const std::vector<ListedWinner>& winners) {
    Json devices = Json::array();
    for (const auto& group : groups_of(winners)) {
        const WinnerRow& first = group.front().row;
        Json device = device_json(first.device, first.compute_capability, first.sm_count);
        device["problems"] = Json::array();
        for (const ListedWinner& winner : group) device["problems"].push_back(winner_json(winner));
        devices.push_back(device);
    }
    return json_text({{"devices", devices}});
}

}  // namespace tmm
