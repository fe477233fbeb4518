#include "bench/report/expression_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <ostream>

#include "base/text/printable.h"
#include "bench/report/result_file.h"
#include "generator/text/text.h"

namespace tmm::bench {
namespace {

std::string interval_text(const std::vector<double>& ratios) {
    if (ratios.empty()) return "-";
    const Interval interval = median_interval(ratios);
    return fmt::format("{:.3f} [{:.3f}, {:.3f}]", interval.value, interval.low, interval.high);
}

std::size_t columns_of(const Screen& screen) {
    return screen.wide ? 0 : screen.columns;
}

std::string notes_on(const ExpressionResult& result) {
    std::string notes = result.throttled ? " (throttled)" : "";
    if (result.l2 == "warm") notes += " (L2 warm)";
    return notes;
}

}  // namespace

void print_head(std::ostream& out, const RunInfo& info, const std::string& expression, const Screen& screen) {
    out << comment(fmt::format("the epilogue is {}, in the kernel or in a step behind it, wherever the library found it faster; peers have "
                               "an elementwise kernel behind their product, which they round to C's type first; [95% interval]",
                               printable(expression)),
                   columns_of(screen))
        << bound_line(info) << fmt::format("{:>9} {:>9}  {:22} {:>9}  {}\n", "plain µs", "tmm µs", "tmm / plain", "peer µs", "peer / tmm")
        << std::flush;
}

void print_result(std::ostream& out, const ExpressionResult& result, const Screen& screen) {
    const std::string shape = to_text(result.shape.problem);
    if (!result.failure.empty()) {
        out << comment(fmt::format("{} failed: {}", shape, result.failure), columns_of(screen)) << std::flush;
        return;
    }
    out << comment(fmt::format("{}: {} ({}), in {}{}", shape, result.config, result.match,
                               result.in_step ? "a step behind the kernel" : "the kernel", notes_on(result)),
                   columns_of(screen));
    if (!result.best_peer.empty())
        out << comment(fmt::format("best peer: {}, {}; results differ by {:.1e}", result.best_peer, result.detail, result.difference),
                       columns_of(screen));
    const std::string peer_us = result.best_peer.empty() ? "-" : fmt::format("{:.2f}", result.peer_us);
    out << fmt::format("{:9.2f} {:9.2f}  {:22} {:>9}  {}\n", result.plain_us, result.median_us, interval_text(result.over_plain), peer_us,
                       interval_text(result.ratios))
        << std::flush;
}

void print_means(std::ostream& out, const std::vector<ExpressionResult>& results) {
    const auto mean = [&](const char* name, std::vector<double> ExpressionResult::*samples, const auto& is_worse) {
        std::vector<std::vector<double>> ratios;
        double worst = 0;
        for (const ExpressionResult& result : results) {
            if (!result.failure.empty() || (result.*samples).empty()) continue;
            ratios.push_back(result.*samples);
            const double value = median_interval(ratios.back()).value;
            if (ratios.size() == 1 || is_worse(value, worst)) worst = value;
        }
        if (ratios.empty()) return;
        const Interval interval = geometric_mean_interval(ratios);
        out << fmt::format("  {:12} {:.3f} [{:.3f}, {:.3f}], worst {:.3f}, {} shape{}\n", name, interval.value, interval.low, interval.high,
                           worst, ratios.size(), ratios.size() == 1 ? "" : "s");
    };
    if (std::all_of(results.begin(), results.end(), [](const ExpressionResult& one) { return !one.failure.empty(); })) return;
    out << "\ngeometric means:\n";
    mean("tmm / plain", &ExpressionResult::over_plain, std::greater<>());
    mean("peer / tmm", &ExpressionResult::ratios, std::less<>());
    out << std::flush;
}

std::string expression_csv(const RunInfo& info, const std::string& expression, const std::vector<ExpressionResult>& results) {
    std::string text = fmt::format("# tmm-bench --expression\n# expression: {}", printable(expression));
    for (const auto& [key, value] : circumstances(info)) text += fmt::format("\n# {}: {}", key, value);
    text +=
        "\nshape,plain_us,tmm_us,over_plain,over_plain_low,over_plain_high,place,best_peer,detail,peer_us,ratio,ratio_low,ratio_high,"
        "difference,match,config,l2,throttled,note\n";
    for (const ExpressionResult& result : results) {
        const bool ok = result.failure.empty();
        const bool compared = ok && !result.ratios.empty();
        const Interval over = ok ? median_interval(result.over_plain) : Interval{};
        const Interval ratio = compared ? median_interval(result.ratios) : Interval{};
        std::vector<std::string> fields = {to_text(result.shape.problem), csv_number(result.plain_us, ok),
                                           csv_number(result.median_us, ok)};
        for (const double value : {over.value, over.low, over.high}) fields.push_back(csv_number(value, ok));
        fields.emplace_back(!ok ? "" : result.in_step ? "step" : "kernel");
        fields.push_back(result.best_peer);
        fields.push_back(result.detail);
        fields.push_back(csv_number(result.peer_us, compared));
        for (const double value : {ratio.value, ratio.low, ratio.high}) fields.push_back(csv_number(value, compared));
        fields.push_back(csv_number(result.difference, compared));
        fields.push_back(result.match);
        fields.push_back(config_fields(result.config));
        fields.push_back(result.l2);
        fields.emplace_back(result.throttled ? "1" : "0");
        fields.push_back(ok ? fmt::format("{}", fmt::join(result.skipped, "; ")) : result.failure);
        for (std::string& field : fields) field = csv_field(field);
        text += fmt::format("{}\n", fmt::join(fields, ","));
    }
    return text;
}

}  // namespace tmm::bench
