// The winners that ship with tmm: db/winners.csv, embedded at build.
#include <map>
#include <string>
#include <utility>

#include "db/record_text.h"
#include "db/records.h"

namespace tmm {

const std::map<std::string, std::string>& embedded_sql();

namespace {

std::vector<WinnerRow> make_winners() {
    const auto records = parse_records(embedded_sql().at("winners.csv"), "winners.csv");
    std::vector<WinnerRow> winners;
    for (const auto& record : records) {
        if (record.kind != TuningRecord::Kind::selection || record.policy != MeasurementPolicy{}) continue;
        WinnerRow winner{.problem = record.problem,
                         .device = record.environment.device.name,
                         .compute_capability = record.environment.device.compute_capability(),
                         .sm_count = record.environment.device.sm_count,
                         .config = record.config,
                         .median_us = record.measurement.median_us,
                         .reason = record.reason,
                         .origin = "shipped"};
        for (const auto& measured : records) {
            GemmProblem problem = winner.problem;
            problem.compute = measured.problem.compute;
            if (measured.kind == TuningRecord::Kind::measurement && measured.config == winner.config && measured.problem == problem &&
                measured.environment.device.name == winner.device)
                winner.error_ratio = measured.measurement.error_ratio;
        }
        winners.push_back(std::move(winner));
    }
    return winners;
}

}  // namespace

const std::vector<WinnerRow>& shipped_winners() {
    static const auto winners = make_winners();
    return winners;
}

}  // namespace tmm
