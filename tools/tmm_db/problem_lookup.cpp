#include "tools/tmm_db/problem_lookup.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/text/printable.h"
#include "db/machine/prediction.h"
#include "generator/machine/device_info.h"
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

// Sorts records of one problem by device, and keeps of each device those that count.
class Lookup {
public:
    explicit Lookup(const ProblemQuery& query) : query_(query) {}

    bool takes(const TuningRecord& record) const {
        GemmProblem problem = record.problem;
        problem.compute = query_.problem.compute;
        return problem == query_.problem && record.policy.decides_winners() && query_.devices.takes(record.environment.device.name);
    }
    // Those that were written later come later.
    void add(TuningRecord record) {
        ProblemOnDevice& known = of(record.environment.device);
        if (record.kind == TuningRecord::Kind::measurement)
            add_measurement(known.candidates, std::move(record));
        else if (record.problem.compute == query_.problem.compute)
            known.decision = newer_of(std::move(known.decision), std::move(record));
        else
            add_other_mode(known.other_modes, std::move(record));
    }
    // What a database has, measured, stands in its place.
    void add_shipped(const TuningRecord& record) {
        const ProblemOnDevice& known = of(record.environment.device);
        const auto is_measured = [&](const TuningRecord& other) {
            return !other.predicted && other.problem.compute == record.problem.compute;
        };
        if (known.decision && is_measured(*known.decision)) return;
        if (std::none_of(known.other_modes.begin(), known.other_modes.end(), is_measured)) add(record);
    }
    ProblemOnDevice& of(const DeviceInfo& device) {
        const auto place =
            std::find_if(found_.begin(), found_.end(), [&](const auto& known) { return model_of(known.device) == model_of(device); });
        if (place != found_.end()) return *place;
        found_.emplace_back();
        found_.back().device = device;
        return found_.back();
    }
    bool empty() const { return found_.empty(); }
    bool knows(const DeviceInfo& device) const {
        return std::any_of(found_.begin(), found_.end(), [&](const auto& known) { return model_of(known.device) == model_of(device); });
    }
    std::vector<ProblemOnDevice> take(TuningDatabase* database) {
        for (ProblemOnDevice& known : found_) {
            known.modelled = database ? modelled_device(known.device, *database) : modelled_device(known.device);
            std::stable_sort(known.candidates.begin(), known.candidates.end(), precedes);
            if (query_.choose) known.choice = query_.choose(model_of(known.device), query_.problem, ChoiceFrom::all);
        }
        return std::move(found_);
    }

private:
    static void add_measurement(std::vector<TuningRecord>& candidates, TuningRecord record) {
        const auto older =
            std::find_if(candidates.begin(), candidates.end(), [&](const auto& candidate) { return candidate.config == record.config; });
        if (older == candidates.end())
            candidates.push_back(std::move(record));
        else
            *older = std::move(record);
    }
    static void add_other_mode(std::vector<TuningRecord>& decisions, TuningRecord record) {
        const auto older = std::find_if(decisions.begin(), decisions.end(),
                                        [&](const auto& decision) { return decision.problem.compute == record.problem.compute; });
        if (older == decisions.end())
            decisions.push_back(std::move(record));
        else
            *older = newer_of(std::move(*older), std::move(record));
    }
    // A later decision replaces an older one, but a shipped one never a user's, and a predicted one never a measured one.
    static TuningRecord newer_of(std::optional<TuningRecord> older, TuningRecord newer) {
        const auto rank = [](const TuningRecord& x) { return std::make_tuple(!x.predicted, x.origin == "user", x.origin == "shipped"); };
        return older && rank(newer) < rank(*older) ? *std::move(older) : std::move(newer);
    }

    const ProblemQuery& query_;
    std::vector<ProblemOnDevice> found_;
};

}  // namespace

const TuningRecord* ProblemOnDevice::serving() const {
    const auto runs = [&](const TuningRecord& record) {
        const WinnerRow& winner = *choice->winner;
        return record.problem.compute == winner.problem.compute && record.config == winner.config && record.origin == winner.origin;
    };
    if (choice && choice->winner) {
        if (decision && runs(*decision)) return &*decision;
        for (const TuningRecord& record : other_modes)
            if (runs(record)) return &record;
    }
    return decision ? &*decision : nullptr;
}

const TuningRecord* ProblemOnDevice::candidate(const KernelConfig& config) const {
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const auto& one) { return one.config == config; });
    return found == candidates.end() ? nullptr : &*found;
}

std::map<Outcome, int> ProblemOnDevice::outcomes() const {
    std::map<Outcome, int> counts;
    for (const TuningRecord& one : candidates) ++counts[one.measurement.outcome];
    return counts;
}

std::vector<ProblemOnDevice> look_up(TuningDatabase* database, const ProblemQuery& query) {
    Lookup lookup(query);
    if (database)
        for (TuningRecord& record : database->records(query.problem))
            if (lookup.takes(record)) lookup.add(std::move(record));
    // What ships counts beside what the database has, and stands in its place where it has nothing.
    const bool ships_alone = lookup.empty() || !query.devices.takes_all();
    for (const TuningRecord& record : shipped_records())
        if (lookup.takes(record) && (ships_alone || lookup.knows(record.environment.device))) lookup.add_shipped(record);
    if (lookup.empty()) {
        std::vector<DeviceModel> devices = database ? database->devices() : std::vector<DeviceModel>();
        if (devices.empty() || !query.devices.takes_all())
            for (const TuningRecord& record : shipped_records()) devices.push_back(model_of(record.environment.device));
        for (const DeviceModel& device : devices)
            if (query.devices.takes(device.name)) lookup.of(device_of(device));
    }
    return lookup.take(database);
}

std::vector<std::string> known_devices(TuningDatabase* database) {
    std::vector<std::string> names;
    if (database)
        for (const DeviceModel& device : database->devices()) names.push_back(device.name);
    for (const TuningRecord& record : shipped_records()) names.push_back(record.environment.device.name);
    return names;
}

void fail_untuned(TuningDatabase* database, const ProblemQuery& query) {
    std::vector<std::pair<double, std::string>> tuned;
    std::vector<WinnerRow> winners = shipped_winners();
    const std::vector<DeviceModel> own = database ? database->devices() : std::vector<DeviceModel>();
    // Who has tuned on some devices asks about these.
    if (!own.empty() && query.devices.takes_all())
        std::erase_if(winners, [&](const WinnerRow& winner) { return std::find(own.begin(), own.end(), model_of(winner)) == own.end(); });
    if (database)
        for (WinnerRow& winner : database->winners()) winners.push_back(std::move(winner));
    for (const WinnerRow& winner : winners)
        if (!winner.predicted && query.devices.takes(winner.device))
            tuned.emplace_back(distance(query.problem, winner.problem), to_text(winner.problem));
    std::stable_sort(tuned.begin(), tuned.end());
    tuned.erase(std::unique(tuned.begin(), tuned.end()), tuned.end());
    std::string nearest;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, tuned.size()); ++i)
        nearest += fmt::format("{}'{}'", i ? ", " : "", tuned[i].second);
    const std::string where = query.devices.takes_all() ? "" : fmt::format(" on a device named {}", in_quotes(query.devices.name()));
    throw Error(ExitStatus::no_winner, fmt::format("'{}' has not been tuned{}", to_text(query.problem), where), {},
                nearest.empty() ? "nothing has been so far; run tmm-tune" : fmt::format("the nearest tuned: {}", nearest));
}

}  // namespace tmm
