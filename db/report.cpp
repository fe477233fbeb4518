// Winners and candidates, told in words and tables.
#include "db/report.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "db/decision_text.h"
#include "db/prediction.h"
#include "db/problem_lookup.h"
#include "db/ranges.h"
#include "db/records.h"
#include "db/stale_winners.h"
#include "db/text_table.h"
#include "db/winner_difference.h"
#include "generator/error.h"
#include "generator/machine/device_model.h"
#include "generator/text/printable.h"
#include "generator/text/text.h"
#include "generator/text/text_width.h"

namespace tmm {
namespace {

constexpr std::size_t kIndent = 4;

std::string time_text(double us) {
    return us > 0 ? short_number(us) : "-";
}
// The emulated device's times say nothing about arithmetic.
std::string tflops_text(const std::string& device, const GemmProblem& problem, double us) {
    if (device == kEmulatedName) return "";
    return us > 0 ? short_number(flops(problem) / us * 1e-6) : "-";
}
std::string ratio_text(double ratio) {
    return ratio >= 0 ? short_number(ratio) : "-";
}
std::string ratio_of_default(const WinnerRow& winner) {
    return winner.default_us > 0 && winner.median_us > 0 ? fmt::format("{:.2f}x", winner.default_us / winner.median_us) : "-";
}
std::string count_text(int count) {
    return count >= 0 ? fmt::format("{}", count) : "-";
}

std::string config_text(const KernelConfig& config, const ReportOptions& options) {
    return options.screen.wide ? fields_text(config) : to_text(config);
}

std::string device_text(const std::string& name, int compute_capability, int sm_count) {
    return fmt::format("{} (compute capability {}.{}, {} SM{})", printable(name), compute_capability / 10, compute_capability % 10,
                       sm_count, sm_count == 1 ? "" : "s");
}
std::string device_text(const DeviceInfo& device) {
    return device_text(device.name, device.compute_capability(), device.sm_count);
}

// Most columns of a line of prose; 0 means unlimited.
std::size_t columns_of(const ReportOptions& options) {
    return options.screen.wide ? 0 : options.screen.columns;
}

// A line above the winners of one device.
std::string device_line(const WinnerRow& winner, const ReportOptions& options) {
    return hanging(device_text(winner.device, winner.compute_capability, winner.sm_count), columns_of(options), kIndent) + "\n";
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string version_or_none(int version) {
    return version ? version_text(version) : "none";
}

std::string utc(std::int64_t time) {
    // fmt can't print a year that does not fit into int.
    if (time < kEarliestTime || time > kLatestTime) return fmt::format("@{}", time);
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(time)));
}

std::string outcome_counts(const std::vector<TuningRecord>& candidates) {
    std::map<Outcome, int> counts;
    for (const auto& candidate : candidates) ++counts[candidate.measurement.outcome];
    std::string text = fmt::format("{}", candidates.size());
    if (counts.size() == 1) return text + fmt::format(", all {}", name_of(counts.begin()->first));
    const char* separator = ": ";
    for (const auto& [outcome, count] : counts) {
        text += fmt::format("{}{} {}", separator, count, name_of(outcome));
        separator = ", ";
    }
    return text;
}

std::string kernel_text(const Measurement& m) {
    std::string text = m.kernel_name.empty() ? "unnamed" : m.kernel_name;
    if (m.registers >= 0) text += fmt::format("; {} registers", m.registers);
    if (m.spill_bytes >= 0) text += m.spill_bytes == 0 ? ", no spills" : fmt::format(", {} bytes spilled", m.spill_bytes);
    return text + fmt::format("; {} bytes of shared memory, {} of workspace", m.shared_bytes, m.workspace_bytes);
}

std::string described(const ProblemOnDevice& known, const GemmProblem& problem, const ReportOptions& options) {
    const char* bold = options.screen.color ? "\x1b[1m" : "";
    const char* plain = options.screen.color ? "\x1b[0m" : "";
    const std::string head = hanging(fmt::format("{} on {}", to_text(problem), device_text(known.device)), columns_of(options), kIndent);
    std::string text = fmt::format("{}{}{}\n", bold, head, plain);
    const auto row = [&](const char* name, const std::string& value, std::size_t indent) {
        constexpr std::size_t kValues = 14;
        const std::size_t columns = columns_of(options);
        std::string lines = hanging(printable(value), columns > kValues ? columns - kValues : columns, indent);
        for (auto end = lines.find('\n'); end != std::string::npos; end = lines.find('\n', end + 1)) lines.insert(end + 1, kValues, ' ');
        text += fmt::format("  {:<11} {}\n", name, lines);
    };
    const auto line = [&](const char* name, const std::string& value) { row(name, value, 0); };
    if (!known.decision) {
        line("winner", "none has been decided on");
        line("candidates", outcome_counts(known.candidates));
        return text;
    }
    const TuningRecord& decision = *known.decision;
    const auto winner =
        std::find_if(known.candidates.begin(), known.candidates.end(), [&](const auto& x) { return x.config == decision.config; });
    const Measurement* measured = winner == known.candidates.end() ? nullptr : &winner->measurement;
    line("winner", config_text(decision.config, options));
    const ReasonParts reason = parts_of_reason(decision.reason);
    line("why", reason.verdict.empty() ? "no reason was given" : with_short_configs(reason.verdict));
    line("time", time_text(decision, measured));
    const std::optional<PredictedTime> predicted = predicted_time(problem, decision.config, known.modelled);
    line("predicted", predicted ? to_text(*predicted) : "not known: tmm does not know the device, or the config is not valid there");
    if (predicted && !known.device.emulated) line("profile", origin_text(known.modelled->profile));
    // Winners that ship come without what else was measured.
    const bool alone = decision.origin != "user" && known.candidates.empty() && !decision.runner_up;
    if (!alone) line("vs default", vs_default_text(decision));
    if (measured) {
        line("error",
             measured->error_ratio < 0 ? "not checked" : fmt::format("at worst {} of the bound", ratio_text(measured->error_ratio)));
        line("kernel", kernel_text(*measured));
    }
    if (!alone) {
        line("candidates", known.candidates.empty() ? "their measurements are not in this database" : outcome_counts(known.candidates));
        line("runner-up", runner_up_text(decision));
    }
    const Environment& environment = decision.environment;
    const auto count = static_cast<std::size_t>(decision.candidates);
    line("decided", fmt::format("{}, {}{}; driver {}, NVRTC {}", utc(decision.time),
                                decision.predicted          ? "predicted for want of time"
                                : decision.origin == "user" ? "by tmm-tune"
                                                            : "shipped with tmm",
                                count == known.candidates.size() ? "" : fmt::format(", from {} candidate{}", count, count == 1 ? "" : "s"),
                                version_or_none(environment.device.driver_version), version_or_none(environment.nvrtc_version)));
    if (!reason.search.empty()) line("search", reason.search);
    if (reason.rejected.empty()) return text;
    const char* name = "left out";
    for (const std::string& rejected : rows_of_rejected(reason.rejected)) row(std::exchange(name, ""), rejected, kIndent);
    return text;
}

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

// "no winners on a device named 'A100'; there are some on NVIDIA H100 80GB HBM3, NVIDIA H200".
std::string no_such_device(const char* what, const std::string& device, const std::vector<WinnerRow>& winners) {
    std::set<std::string> names;
    for (const WinnerRow& winner : winners) names.insert(printable(winner.device));
    const std::string others = names.empty() ? "" : fmt::format("; there are some on {}", fmt::join(names, ", "));
    return fmt::format("{} on a device named {}{}\n", what, in_quotes(device), others);
}

// Where all origins are the usual one, they are not shown.
std::string winners_table(const std::vector<WinnerRow>& winners, const std::string& usual_origin, const ReportOptions& options) {
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

}  // namespace

std::vector<WinnerRow> winners_of(TuningDatabase& database, const ReportOptions& options) {
    auto winners = database.winners();
    std::erase_if(winners, [&](const WinnerRow& winner) { return !names_device(options.device, winner.device); });
    return winners;
}

std::vector<WinnerRow> shipped_winners_of(const ReportOptions& options) {
    auto winners = shipped_winners();
    std::erase_if(winners, [&](const WinnerRow& winner) { return !names_device(options.device, winner.device); });
    // As those of a database are.
    const auto place = [](const WinnerRow& winner) {
        const GemmProblem& p = winner.problem;
        return std::make_tuple(std::string_view(winner.device), p.type_a, flops(p), p.m, p.n, p.k);
    };
    std::ranges::stable_sort(winners, {}, place);
    return winners;
}

std::vector<ProblemOnDevice> candidates_of(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options) {
    auto found = look_up(database, problem, options.device);
    const bool decided = std::any_of(found.begin(), found.end(), [](const auto& known) { return known.decision.has_value(); });
    std::erase_if(found, [](const auto& known) { return known.candidates.empty(); });
    if (!found.empty()) return found;
    if (!decided) fail_untuned(database, problem, options.device);
    throw Error(ExitStatus::no_winner, fmt::format("'{}' has a winner here, but no measurements", to_text(problem)), {},
                "'tmm-db show' names it; an export without --winners brings its measurements");
}

std::vector<std::vector<WinnerRow>> by_device(const std::vector<WinnerRow>& winners) {
    std::vector<std::vector<WinnerRow>> groups;
    for (const WinnerRow& winner : winners) {
        const auto same =
            std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return model_of(group.front()) == model_of(winner); });
        if (same == groups.end())
            groups.push_back({winner});
        else
            same->push_back(winner);
    }
    return groups;
}

std::string winners_report(TuningDatabase& database, const ReportOptions& options) {
    const std::string text = winners_table(winners_of(database, options), "user", options);
    if (!text.empty()) return text;
    return options.device.empty() ? "no winners yet; run tmm-tune\n" : no_such_device("no winners", options.device, database.winners());
}

std::string shipped_report(const ReportOptions& options) {
    const std::string text = winners_table(shipped_winners_of(options), "shipped", options);
    return text.empty() ? no_such_device("tmm ships with no winners", options.device, shipped_winners()) : text;
}

std::string problem_report(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options) {
    std::string text;
    for (const auto& known : look_up(database, problem, options.device)) {
        if (!known.decision && known.candidates.empty()) continue;
        if (!text.empty()) text += '\n';
        text += described(known, problem, options);
    }
    if (text.empty()) fail_untuned(database, problem, options.device);
    return text;
}

std::string candidates_report(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options) {
    std::string text;
    for (const auto& known : candidates_of(database, problem, options)) {
        TextTable table({{"µs", true},
                         {"predicted", true, 2},
                         {"TFLOP/s", true, 3},
                         {"outcome"},
                         {"error/bound", true, 4},
                         {"registers", true, 5},
                         {.head = "config", .fit = TableColumn::Fit::wraps},
                         {.head = "detail", .fit = TableColumn::Fit::below}});
        for (const auto& candidate : known.candidates) {
            const Measurement& m = candidate.measurement;
            const bool won = known.decision && known.decision->config == candidate.config;
            const std::optional<PredictedTime> predicted = predicted_time(problem, candidate.config, known.modelled);
            table.add({time_text(m.median_us), time_text(predicted ? predicted->total() : 0),
                       tflops_text(known.device.name, problem, m.median_us), won ? "ok, winner" : std::string(name_of(m.outcome)),
                       ratio_text(m.error_ratio), count_text(m.registers), config_text(candidate.config, options), m.detail});
        }
        text += text.empty() ? "" : "\n";
        text += hanging(fmt::format("{} on {}: {}", to_text(problem), device_text(known.device), outcome_counts(known.candidates)),
                        columns_of(options), kIndent) +
                "\n" + table.text(options.screen);
    }
    return text;
}

std::string difference_report(TuningDatabase& a, TuningDatabase& b, const ReportOptions& options) {
    const WinnerDifference difference = winner_difference(a, b, options.device);
    std::vector<WinnerRow> devices;
    for (const WinnerPair& pair : difference.pairs)
        if (!pair.same_config()) devices.push_back(pair.either());
    std::string text;
    for (const auto& group : by_device(devices)) {
        TextTable table({{"shape"},
                         {"A µs", true},
                         {"B µs", true},
                         {"A/B", true},
                         {.head = "config of A", .fit = TableColumn::Fit::wraps},
                         {.head = "config of B", .fit = TableColumn::Fit::below}});
        for (const WinnerPair& pair : difference.pairs) {
            if (pair.same_config() || model_of(pair.either()) != model_of(group.front())) continue;
            table.add({to_text(pair.either().problem), pair.a ? time_text(pair.a->median_us) : "-",
                       pair.b ? time_text(pair.b->median_us) : "-", pair.ratio() > 0 ? fmt::format("{:.3f}", pair.ratio()) : "-",
                       pair.a ? config_text(pair.a->config, options) : "-", pair.b ? config_text(pair.b->config, options) : "-"});
        }
        text += device_line(group.front(), options) + table.text(options.screen) + "\n";
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
                       row.staleness.kernels      ? "changed"
                       : row.staleness.unmeasured ? "unmeasured"
                                                  : "-",
                       config_text(row.winner.config, options)});
        text += (text.empty() ? "" : "\n") + device_line(device.winners.front(), options);
        text += hanging(compared_text(device), columns_of(options), kIndent) + "\n";
        if (!table.empty()) text += table.text(options.screen);
    }
    if (!text.empty()) return text;
    return options.device.empty() ? "no winners of your own yet; run tmm-tune\n"
                                  : fmt::format("no winners of your own on a device named {}\n", in_quotes(options.device));
}

}  // namespace tmm
