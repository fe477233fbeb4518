// What diff and stale print.
#include "tools/tmm_db/report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text/text_table.h"
#include "base/text/text_width.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"
#include "tools/tmm_db/stale_command.h"
#include "tools/tmm_db/winner_difference.h"

namespace tmm {
namespace {

std::string utc_day(std::int64_t time) {
    return utc(time).substr(0, utc(time).find(' '));
}

std::string compared_version(const char* what, const ComparedVersion& with) {
    if (with.version == 0) return fmt::format("no {}", what);
    return fmt::format("{} {} ({})", what, version_text(with.version), name_of(with.source));
}

// "3 stale of 5 winners, compared with driver 13.0 (installed), NVRTC 12.9 (installed) and today's kernels".
std::string compared_text(const StaleWinners& device) {
    const char* const kernels = device.compares_kernels ? " and today's kernels" : "; tmm can't make kernels for this device";
    return fmt::format("{} stale of {} winner{}, compared with {}, {}{}", device.stale.size(), device.winners.size(),
                       device.winners.size() == 1 ? "" : "s", compared_version("driver", device.driver),
                       compared_version("NVRTC", device.nvrtc), kernels);
}

}  // namespace

std::string difference_report(const WinnerDifference& difference, const ReportOptions& options) {
    // The winners of two devices differ in their times, if not in their configs.
    const auto is_shown = [&](const WinnerPair& pair) { return difference.across || !pair.same_config(); };
    std::vector<WinnerRow> devices;
    for (const WinnerPair& pair : difference.pairs)
        if (is_shown(pair)) devices.push_back(pair.either());
    std::string text;
    for (const auto& group : by_device(devices)) {
        TextTable table({{"shape"},
                         {"A µs", true},
                         {"B µs", true},
                         {"A/B", true},
                         {.head = "config of A", .fit = TableColumn::Fit::wraps},
                         {.head = "config of B", .fit = TableColumn::Fit::below}});
        for (const WinnerPair& pair : difference.pairs) {
            if (!is_shown(pair) || (!difference.across && model_of(pair.either()) != model_of(group.front()))) continue;
            table.add({to_text(pair.either().problem), pair.a ? time_text(pair.a->median_us) : "-",
                       pair.b ? time_text(pair.b->median_us) : "-", pair.ratio() > 0 ? fmt::format("{:.3f}", pair.ratio()) : "-",
                       pair.a ? config_text(pair.a->config, options) : "-", pair.b ? config_text(pair.b->config, options) : "-"});
        }
        const std::string head =
            difference.across
                ? hanging(fmt::format("A: {}; B: {}", device_text(difference.across->first), device_text(difference.across->second)),
                          columns_of(options), kReportIndent) +
                      "\n"
                : device_line(group.front(), options);
        text += head + table.text(options.screen) + "\n";
        if (difference.across) break;
    }
    text += hanging(fmt::format("{} tuned problems in both, {} of them with different winners; {} only in A, {} only in B", difference.both,
                                difference.different, difference.only_a, difference.only_b),
                    columns_of(options), 0) +
            "\n";
    if (difference.timed > 0)
        text += fmt::format("A's time over B's, geometric mean of {}: {:.3f}\n", difference.timed, difference.mean_ratio);
    return text;
}

std::string stale_report(const std::vector<StaleWinners>& devices, const ReportOptions& options) {
    std::string text;
    for (const StaleWinners& device : devices) {
        TextTable table({{"shape"},
                         {"µs", true, 3},
                         {.head = "decided", .rank = 2},
                         {"driver", true},
                         {"NVRTC", true},
                         {.head = "kernels"},
                         {.head = "config", .rank = 4, .fit = TableColumn::Fit::wraps}});
        for (const StaleWinner& row : device.stale)
            table.add({to_text(row.winner.problem), time_text(row.winner.median_us), utc_day(row.decision.time),
                       row.staleness.driver ? version_or_none(row.decision.driver_version) : "-",
                       row.staleness.nvrtc ? version_or_none(row.decision.nvrtc_version) : "-",
                       row.staleness.kernels        ? "changed"
                       : row.staleness.unmeasured   ? "unmeasured"
                       : row.staleness.back_to_back ? "timed back to back"
                                                    : "-",
                       config_text(row.winner.config, options)});
        text += (text.empty() ? "" : "\n") + device_line(device.winners.front(), options);
        text += hanging(compared_text(device), columns_of(options), kReportIndent) + "\n";
        if (!table.empty()) text += table.text(options.screen);
    }
    return text.empty() ? fmt::format("no winners of your own{} yet; run tmm-tune\n", on_named(options.devices)) : text;
}

}  // namespace tmm
