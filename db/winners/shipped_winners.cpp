// The winners that ship with tmm: db/winners/winners.csv, an export of tmm-db, embedded at build.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "db/store/record_text.h"
#include "db/store/records.h"
#include "generator/machine/device_info.h"

namespace tmm {

const std::map<std::string, std::string>& embedded_database_files();

namespace {

constexpr const char* kFile = "winners/winners.csv";

bool same_measurement_subject(const TuningRecord& measured, const TuningRecord& selected) {
    if (measured.kind != TuningRecord::Kind::measurement) return false;
    GemmProblem problem = selected.problem;
    problem.compute = measured.problem.compute;
    return measured.config == selected.config && measured.problem == problem && measured.policy == selected.policy &&
           model_of(measured.environment.device) == model_of(selected.environment.device);
}

// Reads only the rows whose device, by its name and its compute capability, is wanted.
std::vector<WinnerRow> shipped_winners_where(const std::function<bool(std::string_view, std::string_view)>& wanted) {
    std::string_view file = embedded_database_files().at(kFile);
    const auto next = [](std::string_view& text, char end) {
        const std::string_view part = text.substr(0, text.find(end));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        return part;
    };
    std::string rows(next(file, '\n'));
    rows += '\n';
    while (!file.empty()) {
        const std::string_view row = next(file, '\n');
        std::string_view rest = row;
        // The first columns of a row are those of the export: what it is, then the device. No name of a device has a comma.
        next(rest, ',');
        const std::string_view name = next(rest, ',');
        if (wanted(name, next(rest, ','))) rows.append(row).push_back('\n');
    }
    return shipped_winners_among(parse_records(rows, kFile));
}

}  // namespace

std::vector<TuningRecord> newest_decisions(const std::vector<TuningRecord>& records) {
    std::vector<const TuningRecord*> newest;
    for (const auto& record : records) {
        if (record.kind != TuningRecord::Kind::selection || !record.policy.decides_winners()) continue;
        const auto same = std::find_if(newest.begin(), newest.end(), [&](const TuningRecord* other) {
            return other->problem == record.problem && model_of(other->environment.device) == model_of(record.environment.device);
        });
        // A predicted winner does not replace a measured one, a shipped one no user's, and a raced one neither.
        const auto rank = [](const TuningRecord& x) {
            return std::make_tuple(!x.predicted, x.origin == "user", x.origin == "shipped", x.policy.other_kernel);
        };
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

const std::vector<TuningRecord>& shipped_records() {
    static const auto& records = *new auto(parse_records(embedded_database_files().at(kFile), kFile));
    return records;
}

const std::vector<WinnerRow>& shipped_winners() {
    static const auto& winners = *new auto(shipped_winners_among(shipped_records()));
    return winners;
}

std::vector<WinnerRow> shipped_winners(const std::string& device) {
    return shipped_winners_where([&](std::string_view name, std::string_view) { return name == device; });
}

std::vector<WinnerRow> shipped_winners_beside(const std::string& device, int compute_capability) {
    return shipped_winners_where([&, wanted = std::to_string(compute_capability)](std::string_view name, std::string_view capability) {
        return name != device && capability == wanted;
    });
}

std::vector<WinnerRow> with_shipped(std::vector<WinnerRow> winners, const std::vector<WinnerRow>& all_shipped) {
    std::erase_if(winners, [](const WinnerRow& winner) { return winner.predicted; });
    const std::size_t own = winners.size();
    for (const WinnerRow& shipped : all_shipped) {
        const auto decides_it = [&](const WinnerRow& winner) {
            return winner.origin != "raced" && winner.problem == shipped.problem && model_of(winner) == model_of(shipped);
        };
        const auto end = winners.begin() + static_cast<std::ptrdiff_t>(own);
        // A winner that ships was searched for; what a program raced was not.
        if (std::none_of(winners.begin(), end, decides_it)) winners.push_back(shipped);
    }
    return winners;
}

}  // namespace tmm
