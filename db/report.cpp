// Winners and candidates, told in words and tables.
#include "db/report.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "db/decision_text.h"
#include "db/fields.h"
#include "db/ranges.h"
#include "db/records.h"
#include "db/text_table.h"
#include "generator/device_info.h"
#include "generator/error.h"
#include "generator/text.h"

namespace tmm {
namespace {

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

std::string time_text(double us) {
    return us > 0 ? short_number(us) : "-";
}
// What the emulated device computes a second says nothing.
std::string tflops_text(const GemmProblem& problem, double us, const std::string& device) {
    return us > 0 && device != host_device_info().name ? short_number(flops(problem) / us * 1e-6) : "-";
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

std::string device_text(const DeviceInfo& device) {
    return fmt::format("{} (compute capability {}.{}, {} SM{})", device.name, device.compute_capability_major,
                       device.compute_capability_minor, device.sm_count, device.sm_count == 1 ? "" : "s");
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string utc(std::int64_t time) {
    // fmt can't print a year that does not fit into int.
    if (time < kEarliestTime || time > kLatestTime) return fmt::format("@{}", time);
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(time)));
}

// What is known of one problem on one device under the default policy.
struct ProblemOnDevice {
    DeviceInfo device;
    // The newest of each config: ok ones first, by time.
    std::vector<TuningRecord> candidates;
    // The decision that counts for the problem's compute mode.
    std::optional<TuningRecord> decision;
};

bool same_device(const DeviceInfo& x, const DeviceInfo& y) {
    return x.name == y.name && x.compute_capability() == y.compute_capability() && x.sm_count == y.sm_count;
}

bool precedes(const TuningRecord& x, const TuningRecord& y) {
    const auto rank = [](const TuningRecord& record) {
        const Measurement& m = record.measurement;
        return std::make_tuple(m.outcome != Outcome::ok, m.median_us <= 0, static_cast<int>(m.outcome), m.median_us);
    };
    return rank(x) < rank(y);
}

std::vector<ProblemOnDevice> look_up(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options) {
    std::vector<ProblemOnDevice> found;
    for (auto& record : database.records(problem)) {
        const DeviceInfo& device = record.environment.device;
        if (record.policy != MeasurementPolicy{} || !names_device(options, device.name)) continue;
        if (record.kind == TuningRecord::Kind::selection && record.problem.compute != problem.compute) continue;
        auto place = std::find_if(found.begin(), found.end(), [&](const auto& known) { return same_device(known.device, device); });
        if (place == found.end()) place = found.insert(found.end(), {.device = device, .candidates = {}, .decision = {}});
        if (record.kind == TuningRecord::Kind::selection) {
            // Oldest first: a later one replaces, but a shipped one never replaces a user's, and a predicted one no measured one.
            const auto rank = [](const TuningRecord& x) { return std::make_pair(!x.predicted, x.origin == "user"); };
            if (!place->decision || rank(record) >= rank(*place->decision)) place->decision = std::move(record);
            continue;
        }
        const auto older = std::find_if(place->candidates.begin(), place->candidates.end(),
                                        [&](const auto& candidate) { return candidate.config == record.config; });
        if (older == place->candidates.end())
            place->candidates.push_back(std::move(record));
        else
            *older = std::move(record);
    }
    for (auto& known : found) std::stable_sort(known.candidates.begin(), known.candidates.end(), precedes);
    return found;
}

double distance(const GemmProblem& x, const GemmProblem& y) {
    const auto ratio = [](i64 a, i64 b) { return std::abs(std::log2(static_cast<double>(a + 1) / static_cast<double>(b + 1))); };
    return ratio(x.m, y.m) + ratio(x.n, y.n) + ratio(x.k, y.k) + ratio(x.batch, y.batch) + 4 * (x.type_a != y.type_a) +
           2 * (x.type_c != y.type_c) + (x.op_a != y.op_a) + (x.op_b != y.op_b) + (x.compute != y.compute) +
           0.5 * (x.reads_c != y.reads_c) + 0.25 * (x.alignment != y.alignment) + 0.1 * (x.lda != y.lda) + 0.1 * (x.ldb != y.ldb) +
           0.1 * (x.ldc != y.ldc);
}

[[noreturn]] void fail_untuned(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options) {
    std::vector<std::pair<double, std::string>> tuned;
    for (const auto& winner : database.winners())
        if (!winner.predicted && names_device(options, winner.device))
            tuned.emplace_back(distance(problem, winner.problem), to_text(winner.problem));
    std::stable_sort(tuned.begin(), tuned.end());
    tuned.erase(std::unique(tuned.begin(), tuned.end()), tuned.end());
    std::string nearest;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, tuned.size()); ++i)
        nearest += fmt::format("{}'{}'", i ? ", " : "", tuned[i].second);
    const std::string where = options.device.empty() ? "" : fmt::format(" on a device named '{}'", options.device);
    throw Error(ExitStatus::no_winner, fmt::format("'{}' has not been tuned{}", to_text(problem), where), {},
                nearest.empty() ? "nothing has been so far; run tmm-tune" : fmt::format("the nearest tuned: {}", nearest));
}

std::string outcome_counts(const std::vector<TuningRecord>& candidates) {
    std::map<Outcome, int> counts;
    for (const auto& candidate : candidates) ++counts[candidate.measurement.outcome];
    std::string text = fmt::format("{}", candidates.size());
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
    const char* bold = options.color ? "\x1b[1m" : "";
    const char* plain = options.color ? "\x1b[0m" : "";
    std::string text = fmt::format("{}{}{} on {}\n", bold, to_text(problem), plain, device_text(known.device));
    const auto line = [&](const char* name, const std::string& value) { text += fmt::format("  {:<11} {}\n", name, value); };
    if (!known.decision) {
        line("winner", "none has been decided on");
        line("candidates", outcome_counts(known.candidates));
        return text;
    }
    const TuningRecord& decision = *known.decision;
    const auto winner =
        std::find_if(known.candidates.begin(), known.candidates.end(), [&](const auto& x) { return x.config == decision.config; });
    const Measurement* measured = winner == known.candidates.end() ? nullptr : &winner->measurement;
    line("winner", to_text(decision.config));
    line("why", decision.reason.empty() ? "no reason was given" : decision.reason);
    line("time", time_text(decision, measured));
    line("vs default", vs_default_text(decision));
    if (measured) {
        line("error", measured->error_ratio < 0 ? "not checked" : fmt::format("{} of the bound", ratio_text(measured->error_ratio)));
        line("kernel", kernel_text(*measured));
    }
    line("candidates", outcome_counts(known.candidates));
    line("runner-up", runner_up_text(decision));
    const Environment& environment = decision.environment;
    line("decided", fmt::format("{}, from {} candidate{}, {}; driver {}, NVRTC {}", utc(decision.time), decision.candidates,
                                decision.candidates == 1 ? "" : "s",
                                decision.predicted          ? "predicted for want of time"
                                : decision.origin == "user" ? "on this database's own measurements"
                                                            : "shipped with tmm",
                                environment.device.driver_version ? version_text(environment.device.driver_version) : "none",
                                environment.nvrtc_version ? version_text(environment.nvrtc_version) : "none"));
    return text;
}

}  // namespace

bool names_device(const ReportOptions& options, const std::string& device) {
    return lower(device).find(lower(options.device)) != std::string::npos;
}

std::string winners_report(TuningDatabase& database, const ReportOptions& options) {
    TextTable table(
        {{"shape"}, {"device"}, {"µs", true}, {"TFLOP/s", true}, {"error", true}, {"vs default", true}, {"origin"}, {"config"}});
    for (const auto& winner : database.winners())
        if (names_device(options, winner.device))
            table.add({to_text(winner.problem), winner.device, time_text(winner.median_us), tflops_text(winner.problem, winner.median_us, winner.device),
                       ratio_text(winner.error_ratio), ratio_of_default(winner), winner.predicted ? "predicted" : winner.origin,
                       to_text(winner.config)});
    if (!table.empty()) return table.text(options.color);
    return options.device.empty() ? "no winners yet; run tmm-tune\n" : fmt::format("no winners on a device named '{}'\n", options.device);
}

std::string problem_report(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options) {
    std::string text;
    for (const auto& known : look_up(database, problem, options)) {
        if (!known.decision && known.candidates.empty()) continue;
        if (!text.empty()) text += '\n';
        text += described(known, problem, options);
    }
    if (text.empty()) fail_untuned(database, problem, options);
    return text;
}

std::string candidates_report(TuningDatabase& database, const GemmProblem& problem, const ReportOptions& options) {
    std::string text;
    bool decided = false;
    for (const auto& known : look_up(database, problem, options)) {
        decided = decided || known.decision.has_value();
        if (known.candidates.empty()) continue;
        TextTable table({{"µs", true}, {"TFLOP/s", true}, {"outcome"}, {"error", true}, {"registers", true}, {"config"}, {"detail"}});
        for (const auto& candidate : known.candidates) {
            const Measurement& m = candidate.measurement;
            const bool won = known.decision && known.decision->config == candidate.config;
            table.add({time_text(m.median_us), tflops_text(problem, m.median_us, known.device.name),
                       won ? "ok, winner" : std::string(name_of(m.outcome)), ratio_text(m.error_ratio), count_text(m.registers),
                       to_text(candidate.config), m.detail});
        }
        text += fmt::format("{}{} on {}: {}\n", text.empty() ? "" : "\n", to_text(problem), device_text(known.device),
                            outcome_counts(known.candidates));
        text += table.text(options.color);
    }
    if (text.empty() && decided)
        throw Error(ExitStatus::no_winner, fmt::format("'{}' has a winner here, but no measurements", to_text(problem)), {},
                    "'tmm-db show' names it; an export without --winners brings its measurements");
    if (text.empty()) fail_untuned(database, problem, options);
    return text;
}

std::string difference_report(TuningDatabase& a, TuningDatabase& b, const ReportOptions& options) {
    using Key = std::pair<std::string, std::string>;
    const auto read = [&](TuningDatabase& database) {
        std::map<Key, WinnerRow> winners;
        std::vector<Key> order;
        for (auto& winner : database.winners()) {
            if (winner.origin != "user" || !names_device(options, winner.device)) continue;
            Key key{to_text(winner.problem), fmt::format("{}\n{} {}", winner.device, winner.compute_capability, winner.sm_count)};
            if (winners.emplace(key, std::move(winner)).second) order.push_back(std::move(key));
        }
        return std::make_pair(std::move(winners), std::move(order));
    };
    const auto [in_a, order_a] = read(a);
    const auto [in_b, order_b] = read(b);
    TextTable table({{"shape"}, {"device"}, {"A µs", true}, {"B µs", true}, {"A/B", true}, {"config of A"}, {"config of B"}});
    int both = 0, differ = 0, only_a = 0, only_b = 0, timed = 0;
    double log_sum = 0;
    for (const auto& key : order_a) {
        const WinnerRow& x = in_a.at(key);
        const auto found = in_b.find(key);
        if (found == in_b.end()) {
            ++only_a;
            table.add({key.first, x.device, time_text(x.median_us), "-", "-", to_text(x.config), "-"});
            continue;
        }
        const WinnerRow& y = found->second;
        const double ratio = x.median_us > 0 && y.median_us > 0 ? x.median_us / y.median_us : 0;
        ++both;
        if (ratio > 0) ++timed, log_sum += std::log(ratio);
        if (x.config == y.config) continue;
        ++differ;
        table.add({key.first, x.device, time_text(x.median_us), time_text(y.median_us), ratio > 0 ? fmt::format("{:.3f}", ratio) : "-",
                   to_text(x.config), to_text(y.config)});
    }
    for (const auto& key : order_b) {
        if (in_a.contains(key)) continue;
        const WinnerRow& y = in_b.at(key);
        ++only_b;
        table.add({key.first, y.device, "-", time_text(y.median_us), "-", "-", to_text(y.config)});
    }
    std::string text = table.empty() ? "" : table.text(options.color) + "\n";
    text +=
        fmt::format("{} problems in both, {} of them with different winners; {} only in A, {} only in B\n", both, differ, only_a, only_b);
    if (timed) text += fmt::format("A's time over B's, geometric mean of {}: {:.3f}\n", timed, std::exp(log_sum / timed));
    return text;
}

}  // namespace tmm
