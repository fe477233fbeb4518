#include "tools/tmm_db/problem_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/text/printable.h"
#include "base/text/text_table.h"
#include "base/text/text_width.h"
#include "db/machine/prediction.h"
#include "db/winners/decision_text.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

std::string outcome_counts(const ProblemOnDevice& known) {
    const std::map<Outcome, int> counts = known.outcomes();
    std::string text = fmt::format("{}", known.candidates.size());
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

// Rows of a name and a sentence, which breaks into lines of its own column.
class Rows {
public:
    explicit Rows(const ReportOptions& options) : options_(options) {}

    void head(const std::string& text) {
        const char* bold = options_.screen.color ? "\x1b[1m" : "";
        const char* plain = options_.screen.color ? "\x1b[0m" : "";
        text_ += fmt::format("{}{}{}\n", bold, hanging(text, columns_of(options_), kReportIndent), plain);
    }
    void add(const char* name, const std::string& value, std::size_t indent = 0) {
        constexpr std::size_t kValues = 14;
        const std::size_t columns = columns_of(options_);
        std::string lines = hanging(printable(value), columns > kValues ? columns - kValues : columns, indent);
        for (auto end = lines.find('\n'); end != std::string::npos; end = lines.find('\n', end + 1)) lines.insert(end + 1, kValues, ' ');
        text_ += fmt::format("  {:<11} {}\n", name, lines);
    }
    std::string take() { return std::move(text_); }

private:
    const ReportOptions& options_;
    std::string text_;
};

void add_prediction(Rows& rows, const ProblemOnDevice& known, const GemmProblem& problem, const KernelConfig& config) {
    if (known.device.emulated) return;
    const std::optional<PredictedTime> predicted = predicted_time(problem, config, known.modelled);
    rows.add("predicted", predicted ? to_text(*predicted) : "not known: tmm does not know the device, or the config is not valid there");
    if (predicted) rows.add("profile", origin_text(known.modelled->profile));
}

std::string served_by_text(const ProblemOnDevice& known, const TuningRecord& serving) {
    const std::string mode(name_of(serving.problem.compute));
    if (!known.decision) return fmt::format("the {} winner, which keeps the promise of this compute mode", mode);
    const std::string own = known.decision->predicted ? std::string("was not measured")
                                                      : fmt::format("takes {} µs: {}", short_number(known.decision->measurement.median_us),
                                                                    to_text(known.decision->config));
    return fmt::format("the {} winner, since its own {}", mode, own);
}

std::string decided_text(const TuningRecord& decision, std::size_t candidates) {
    const Environment& environment = decision.environment;
    const auto count = static_cast<std::size_t>(decision.candidates);
    return fmt::format("{}, {}{}; driver {}, NVRTC {}", utc(decision.time),
                       decision.predicted           ? "predicted for want of time"
                       : decision.origin == "user"  ? "by tmm-tune"
                       : decision.origin == "raced" ? "within a program, against the library that it called"
                                                    : "shipped with tmm",
                       count == candidates ? "" : fmt::format(", from {} candidate{}", count, count == 1 ? "" : "s"),
                       version_or_none(environment.device.driver_version), version_or_none(environment.nvrtc_version));
}

// What runs where no winner of the very problem does.
void add_choice(Rows& rows, const ProblemOnDevice& known, const GemmProblem& problem, const ReportOptions& options) {
    if (!known.choice) {
        rows.add("runs", "not known: tmm does not know the device's generation");
        return;
    }
    rows.add("runs", config_text(known.choice->config, options));
    rows.add("because", known.choice->why);
    add_prediction(rows, known, problem, known.choice->config);
}

std::string described(const ProblemOnDevice& known, const GemmProblem& problem, const ReportOptions& options) {
    Rows rows(options);
    rows.head(fmt::format("{} on {}", to_text(problem), device_text(model_of(known.device))));
    const TuningRecord* const serving = known.serving();
    if (!serving) {
        rows.add("winner", "none has been decided on");
        if (!known.candidates.empty()) rows.add("candidates", outcome_counts(known));
        if (options.choose) add_choice(rows, known, problem, options);
        return rows.take();
    }
    const TuningRecord& decision = *serving;
    const TuningRecord* const candidate = known.candidate(decision.config);
    const Measurement* const measured = candidate ? &candidate->measurement : nullptr;
    rows.add("winner", config_text(decision.config, options));
    if (decision.problem.compute != problem.compute) rows.add("served by", served_by_text(known, decision));
    const ReasonParts reason = parts_of_reason(decision.reason);
    rows.add("why", reason.verdict.empty() ? "no reason was given" : with_short_configs(reason.verdict));
    rows.add("time", time_text(decision, measured));
    if (decision.origin == "raced") rows.add("library", fmt::format("{} µs", short_number(decision.runner_up_us)));
    add_prediction(rows, known, problem, decision.config);
    // Winners that ship come without what else was measured.
    const bool alone = decision.origin != "user" && known.candidates.empty() && !decision.runner_up;
    if (!alone) rows.add("vs default", vs_default_text(decision));
    if (measured) {
        rows.add("error",
                 measured->error_ratio < 0 ? "not checked" : fmt::format("at worst {} of the bound", ratio_text(measured->error_ratio)));
        rows.add("kernel", kernel_text(*measured));
    }
    if (!alone) {
        rows.add("candidates", known.candidates.empty() ? "their measurements are not in this database" : outcome_counts(known));
        rows.add("runner-up", runner_up_text(decision));
    }
    rows.add("decided", decided_text(decision, known.candidates.size()));
    if (!reason.search.empty()) rows.add("search", reason.search);
    if (!reason.rejected.empty()) {
        const char* name = "left out";
        for (const std::string& rejected : rows_of_rejected(reason.rejected)) rows.add(std::exchange(name, ""), rejected, kReportIndent);
    }
    if (known.choice && known.choice->config != decision.config) add_choice(rows, known, problem, options);
    return rows.take();
}

}  // namespace

std::string problem_report(const std::vector<ProblemOnDevice>& devices, const GemmProblem& problem, const ReportOptions& options) {
    std::string text;
    for (const ProblemOnDevice& known : devices) text += (text.empty() ? "" : "\n") + described(known, problem, options);
    return text;
}

std::string candidates_report(const std::vector<ProblemOnDevice>& devices, const GemmProblem& problem, const ReportOptions& options) {
    std::string text;
    for (const ProblemOnDevice& known : devices) {
        TextTable table({{"µs", true},
                         {"predicted", true, 2},
                         {"TFLOP/s", true, 3},
                         {"outcome"},
                         {"error/bound", true, 4},
                         {"registers", true, 5},
                         {.head = "config", .fit = TableColumn::Fit::wraps},
                         {.head = "detail", .fit = TableColumn::Fit::below}});
        const TuningRecord* const serving = known.serving();
        for (const auto& candidate : known.candidates) {
            const Measurement& m = candidate.measurement;
            const bool won = serving && serving->config == candidate.config;
            const std::optional<PredictedTime> predicted = predicted_time(problem, candidate.config, known.modelled);
            table.add({time_text(m.median_us), time_text(predicted ? predicted->total() : 0),
                       tflops_text(known.device.name, problem, m.median_us), won ? "ok, winner" : std::string(name_of(m.outcome)),
                       ratio_text(m.error_ratio), count_text(m.registers), config_text(candidate.config, options), m.detail});
        }
        text += text.empty() ? "" : "\n";
        text += hanging(fmt::format("{} on {}: {}", to_text(problem), device_text(model_of(known.device)), outcome_counts(known)),
                        columns_of(options), kReportIndent) +
                "\n" + table.text(options.screen);
    }
    return text;
}

std::vector<ProblemOnDevice> candidates_of(TuningDatabase& database, const ProblemQuery& query) {
    auto found = look_up(&database, query);
    const bool decided = std::ranges::any_of(found, [](const auto& known) { return known.serving() != nullptr; });
    std::erase_if(found, [](const auto& known) { return known.candidates.empty(); });
    if (!found.empty()) return found;
    if (!decided) fail_untuned(&database, query);
    throw Error(ExitStatus::no_winner, fmt::format("'{}' has a winner here, but no measurements", to_text(query.problem)), {},
                "'tmm-db show' names it; an export without --winners brings its measurements");
}

}  // namespace tmm
