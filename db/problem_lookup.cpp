#include "db/problem_lookup.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "db/prediction.h"
#include "generator/error.h"
#include "generator/machine/device_model.h"
#include "generator/text/printable.h"
#include "generator/text/text.h"
#include "host/portable_math.h"
#include "tmm/vocabulary/problem_fields.h"

namespace tmm {
namespace {

bool precedes(const TuningRecord& x, const TuningRecord& y) {
    const auto rank = [](const TuningRecord& record) {
        const Measurement& m = record.measurement;
        return std::make_tuple(m.outcome != Outcome::ok, m.median_us <= 0, static_cast<int>(m.outcome), m.median_us);
    };
    return rank(x) < rank(y);
}

double distance(const GemmProblem& x, const GemmProblem& y) {
    const auto ratio = [](i64 a, i64 b) { return std::abs(portable::log2(static_cast<double>(a + 1) / static_cast<double>(b + 1))); };
    double distance = ratio(x.m, y.m) + ratio(x.n, y.n) + ratio(x.k, y.k) + ratio(x.batch, y.batch) + 3 * (x.type_a != y.type_a) +
                      (x.type_c != y.type_c) + 0.4 * (x.reads_c != y.reads_c);
    // What is multiplied counts more than where it lies.
    for (const ProblemField& field : kProblemFields)
        if (field.get(x) != field.get(y)) distance += field.near_may_differ ? 0.1 : 1;
    return distance;
}

}  // namespace

std::vector<ProblemOnDevice> look_up(TuningDatabase& database, const GemmProblem& problem, const DeviceFilter& devices) {
    std::vector<ProblemOnDevice> found;
    for (auto& record : database.records(problem)) {
        const DeviceInfo& device = record.environment.device;
        if (record.policy != MeasurementPolicy{} || !devices.takes(device.name)) continue;
        if (record.kind == TuningRecord::Kind::selection && record.problem.compute != problem.compute) continue;
        auto place =
            std::find_if(found.begin(), found.end(), [&](const auto& known) { return model_of(known.device) == model_of(device); });
        if (place == found.end()) place = found.insert(found.end(), {.device = device, .modelled = {}, .candidates = {}, .decision = {}});
        if (record.kind == TuningRecord::Kind::selection) {
            // The oldest comes first: a later decision replaces it, but a shipped one never replaces a user's, and a predicted one never a
            // measured one.
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
    for (auto& known : found) {
        known.modelled = modelled_device(known.device, database);
        std::stable_sort(known.candidates.begin(), known.candidates.end(), precedes);
    }
    return found;
}

void fail_untuned(TuningDatabase& database, const GemmProblem& problem, const DeviceFilter& devices) {
    std::vector<std::pair<double, std::string>> tuned;
    for (const auto& winner : database.winners())
        if (!winner.predicted && devices.takes(winner.device))
            tuned.emplace_back(distance(problem, winner.problem), to_text(winner.problem));
    std::stable_sort(tuned.begin(), tuned.end());
    tuned.erase(std::unique(tuned.begin(), tuned.end()), tuned.end());
    std::string nearest;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, tuned.size()); ++i)
        nearest += fmt::format("{}'{}'", i ? ", " : "", tuned[i].second);
    const std::string where = devices.takes_all() ? "" : fmt::format(" on a device named {}", in_quotes(devices.name()));
    throw Error(ExitStatus::no_winner, fmt::format("'{}' has not been tuned{}", to_text(problem), where), {},
                nearest.empty() ? "nothing has been so far; run tmm-tune" : fmt::format("the nearest tuned: {}", nearest));
}

}  // namespace tmm
