#include "db/winners/decision_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/text/text_table.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

// Where a clause "; 12 configs …" begins whose words, behind its number, begin so; the text's end where there is none.
std::size_t find_count(const std::string& text, std::string_view words) {
    for (std::size_t at = text.find("; "); at != std::string::npos; at = text.find("; ", at + 1)) {
        const std::size_t number = at + 2;
        const std::size_t end = std::min(text.find_first_not_of("0123456789", number), text.size());
        if (end > number && std::string_view(text).substr(end).starts_with(words)) return at;
    }
    return text.size();
}

// Cuts the text off there, and returns what stood behind "; ".
std::string take_from(std::string& text, std::size_t at) {
    std::string rest = at < text.size() ? text.substr(at + 2) : "";
    text.resize(at);
    return rest;
}

}  // namespace

ReasonParts parts_of_reason(const std::string& reason) {
    ReasonParts parts{.verdict = reason, .search = {}, .rejected = {}};
    parts.rejected = take_from(parts.verdict, find_count(parts.verdict, " configs rejected before"));
    parts.search = take_from(parts.verdict, find_count(parts.verdict, " candidates measured, "));
    return parts;
}

std::vector<std::string> rows_of_rejected(const std::string& rejected) {
    const std::size_t colon = rejected.find(": ");
    if (colon == std::string::npos) return {rejected};
    std::vector<std::string> rows = {rejected.substr(0, colon + 1)};
    std::size_t begin = colon + 2;
    // Reasons have commas of their own: a row ends at one that a count follows.
    for (std::size_t at = rejected.find(", ", begin); at != std::string::npos; at = rejected.find(", ", at + 2)) {
        const std::size_t end = rejected.find_first_not_of("0123456789", at + 2);
        if (end == at + 2 || end == std::string::npos) continue;
        const std::string_view behind = std::string_view(rejected).substr(end);
        if (!behind.starts_with(" x ") && !behind.starts_with(" for ")) continue;
        rows.push_back(rejected.substr(begin, at - begin));
        begin = at + 2;
    }
    rows.push_back(rejected.substr(begin));
    return rows;
}

std::string time_text(const TuningRecord& decision, const Measurement* alone) {
    const double us = decision.measurement.median_us;
    std::string text = decision.predicted ? "not measured: the config is predicted" : us > 0 ? short_number(us) + " µs" : "not known";
    if (us > 0 && decision.environment.device.name != kEmulatedName)
        text += fmt::format(", {} TFLOP/s", short_number(flops(decision.problem) / us * 1e-6));
    if (alone && alone->samples > 0)
        text += fmt::format("; measured alone {} µs (10th percentile {}, 90th percentile {}; {} sample{})", short_number(alone->median_us),
                            short_number(alone->low_us), short_number(alone->high_us), alone->samples, alone->samples == 1 ? "" : "s");
    return text;
}

std::string vs_default_text(const TuningRecord& decision) {
    if (decision.default_us <= 0 || decision.measurement.median_us <= 0) return "not known: the default config was not in its run-off";
    if (decision.default_us == decision.measurement.median_us) return "1.00x: the default config won";
    return fmt::format("{:.2f}x (the default took {} µs in the same run-off)", decision.default_us / decision.measurement.median_us,
                       short_number(decision.default_us));
}

std::string runner_up_text(const TuningRecord& decision) {
    const double us = decision.measurement.median_us;
    if (!decision.runner_up || decision.runner_up_us <= 0 || us <= 0) return "not known: no other candidate was in its run-off";
    const double percent = 100 * (decision.runner_up_us / us - 1);
    return fmt::format("{} µs in the same run-off, {}: {}", short_number(decision.runner_up_us),
                       percent >= 0 ? fmt::format("{:.1f}% slower", percent)
                                    : fmt::format("{:.1f}% faster by its median, but not in most rounds", -percent),
                       to_text(*decision.runner_up));
}

}  // namespace tmm
