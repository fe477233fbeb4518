// The winners that ship with tmm: db/winners.csv, an export of tmm-db, embedded at build.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "db/record_text.h"
#include "db/records.h"

namespace tmm {

const std::map<std::string, std::string>& embedded_sql();

namespace {

constexpr const char* kFile = "winners.csv";

bool same_device(const DeviceInfo& x, const DeviceInfo& y) {
    return x.name == y.name && x.compute_capability() == y.compute_capability() && x.sm_count == y.sm_count;
}

bool same_measurement_subject(const TuningRecord& measured, const TuningRecord& selected) {
    if (measured.kind != TuningRecord::Kind::measurement) return false;
    GemmProblem problem = selected.problem;
    problem.compute = measured.problem.compute;
    return measured.config == selected.config && measured.problem == problem && measured.policy == selected.policy &&
           measured.environment.device.name == selected.environment.device.name;
}

}  // namespace

std::vector<TuningRecord> newest_decisions(const std::vector<TuningRecord>& records) {
    std::vector<const TuningRecord*> newest;
    for (const auto& record : records) {
        if (record.kind != TuningRecord::Kind::selection || record.policy != MeasurementPolicy{}) continue;
        const auto same = std::find_if(newest.begin(), newest.end(), [&](const TuningRecord* other) {
            return other->problem == record.problem && same_device(other->environment.device, record.environment.device);
        });
        // A predicted winner does not replace a measured one, and a shipped one does not replace a user's.
        const auto rank = [](const TuningRecord& x) { return std::make_pair(!x.predicted, x.origin == "user"); };
        if (same == newest.end())
            newest.push_back(&record);
        else if (rank(record) >= rank(**same))
            *same = &record;
    }
    std::vector<TuningRecord> decisions;
    for (const TuningRecord* record : newest) decisions.push_back(*record);
    return decisions;
}

std::vector<WinnerRow> shipped_winners_among(const std::vector<TuningRecord>& records) {
    std::vector<WinnerRow> winners;
    for (const TuningRecord& selection : newest_decisions(records)) {
        if (selection.predicted) continue;
        WinnerRow winner{.problem = selection.problem,
                         .device = selection.environment.device.name,
                         .compute_capability = selection.environment.device.compute_capability(),
                         .sm_count = selection.environment.device.sm_count,
                         .config = selection.config,
                         .median_us = selection.measurement.median_us,
                         .reason = selection.reason,
                         .origin = "shipped",
                         .default_us = selection.default_us};
        for (const auto& record : records)
            if (same_measurement_subject(record, selection)) winner.error_ratio = record.measurement.error_ratio;
        winners.push_back(std::move(winner));
    }
    return winners;
}

const std::vector<WinnerRow>& shipped_winners() {
    static const auto& winners = *new auto(shipped_winners_among(parse_records(embedded_sql().at(kFile), kFile)));
    return winners;
}

std::vector<WinnerRow> shipped_winners(const std::string& device) {
    std::string_view file = embedded_sql().at(kFile);
    const auto next_line = [&] {
        const std::string_view line = file.substr(0, file.find('\n') + 1);
        file.remove_prefix(line.size());
        return line;
    };
    std::string own(next_line());
    // The first columns of a line are those of the export: what it is, then the device.
    const std::string beginning = "selection," + device + ",";
    while (!file.empty())
        if (const std::string_view line = next_line(); line.starts_with(beginning)) own += line;
    return shipped_winners_among(parse_records(own, kFile));
}

std::vector<WinnerRow> with_shipped(std::vector<WinnerRow> winners, const std::vector<WinnerRow>& all_shipped) {
    std::erase_if(winners, [](const WinnerRow& winner) { return winner.predicted; });
    const std::size_t own = winners.size();
    for (const WinnerRow& shipped : all_shipped) {
        const auto decides_it = [&](const WinnerRow& winner) {
            return winner.problem == shipped.problem && winner.device == shipped.device &&
                   winner.compute_capability == shipped.compute_capability;
        };
        const auto end = winners.begin() + static_cast<std::ptrdiff_t>(own);
        if (std::none_of(winners.begin(), end, decides_it)) winners.push_back(shipped);
    }
    return winners;
}

}  // namespace tmm
