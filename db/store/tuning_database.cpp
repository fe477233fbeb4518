// The database's operations for tuner and runtime. Reading and storing whole records stands in record_store.cpp.
#include "db/store/tuning_database.h"

#include <SQLiteCpp/Transaction.h>
#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "db/store/fields.h"
#include "db/store/process.h"
#include "db/store/tuning_database_impl.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

// Sorts a user's before those that ship and these before raced ones, then by device, type and size.
void sort_for_reading(std::vector<WinnerRow>& winners) {
    const auto key = [](const WinnerRow& x) {
        const GemmProblem& p = x.problem;
        const double size = static_cast<double>(rows_of_c(p)) * static_cast<double>(columns_of_c(p)) * static_cast<double>(p.k) *
                            static_cast<double>(p.batch);
        return std::make_tuple(x.origin != "user", x.origin != "shipped", std::string_view(x.device), p.type_a, size, rows_of_c(p),
                               columns_of_c(p), p.k);
    };
    std::stable_sort(winners.begin(), winners.end(), [&](const WinnerRow& x, const WinnerRow& y) { return key(x) < key(y); });
}

}  // namespace

std::vector<MeasuredCandidate> verified_times(const std::vector<MeasuredCandidate>& rows) {
    std::vector<MeasuredCandidate> newest;
    for (const MeasuredCandidate& row : rows) {
        const auto is_its = [&](const MeasuredCandidate& known) { return known.config == row.config; };
        if (std::none_of(newest.begin(), newest.end(), is_its)) newest.push_back(row);
    }
    std::erase_if(newest, [](const MeasuredCandidate& candidate) {
        return candidate.measurement.outcome != Outcome::ok || candidate.measurement.median_us <= 0;
    });
    std::stable_sort(newest.begin(), newest.end(), [](const MeasuredCandidate& x, const MeasuredCandidate& y) {
        return x.measurement.median_us < y.measurement.median_us;
    });
    return newest;
}

const Environment& TuningDatabase::Impl::known_environment() const {
    if (!environment) throw std::logic_error("TuningDatabase: set_environment() comes first");
    return *environment;
}

void TuningDatabase::Impl::store_results(const GemmProblem& problem, const MeasurementPolicy& policy,
                                         const std::vector<CandidateResult>& results) {
    if (results.empty()) return;
    SQLite::Statement withdraw(database, "DELETE FROM in_flight WHERE device_id = ? AND problem_id = ? AND config_id = ?");
    for (const CandidateResult& result : results) {
        store_new({.kind = TuningRecord::Kind::measurement,
                   .environment = known_environment(),
                   .problem = problem,
                   .config = result.config,
                   .policy = policy,
                   .measurement = result.measurement});
        withdraw.bind(1, ids.device(known_environment().device));
        withdraw.bind(2, ids.find_or_insert("problem", cells_of(problem)));
        withdraw.bind(3, ids.find_or_insert("config", cells_of(result.config)));
        withdraw.exec();
        withdraw.reset();
    }
}

void TuningDatabase::Impl::store_announcements(const GemmProblem& problem, const std::vector<Announcement>& announcements) {
    if (announcements.empty()) return;
    SQLite::Statement insert(
        database,
        "INSERT INTO in_flight (device_id, problem_id, config_id, compute, kernel_name, attempts, boot_id, process, started, "
        "announced_at) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT (device_id, problem_id, config_id) DO UPDATE SET "
        "attempts = min(attempts + 1, 1000000), compute = excluded.compute, kernel_name = excluded.kernel_name, boot_id = "
        "excluded.boot_id, "
        "process = excluded.process, started = excluded.started, announced_at = excluded.announced_at");
    const auto self = this_process();
    for (const Announcement& announcement : announcements) {
        insert.bind(1, ids.device(known_environment().device));
        insert.bind(2, ids.find_or_insert("problem", cells_of(problem)));
        insert.bind(3, ids.find_or_insert("config", cells_of(announcement.config)));
        insert.bind(4, std::int64_t{compute_field().get(problem)});
        insert.bind(5, one_line(announcement.kernel_name, kNameLimit));
        insert.bind(6, machine_text(self));
        insert.bind(7, self.process);
        insert.bind(8, self.started);
        insert.bind(9, now());
        insert.exec();
        insert.reset();
    }
}

TuningDatabase::TuningDatabase(const std::filesystem::path& file, Mode mode, const Patience& patience)
    : impl_(std::make_unique<Impl>(file, open_database(file, mode, patience))) {}
TuningDatabase::~TuningDatabase() = default;
TuningDatabase::TuningDatabase(TuningDatabase&&) noexcept = default;

void TuningDatabase::set_environment(const Environment& environment) {
    impl_->environment = environment;
}

std::vector<MeasuredCandidate> TuningDatabase::measurements(const GemmProblem& problem, const MeasurementPolicy& policy) {
    const auto& environment = impl_->known_environment();
    return guarded(impl_->file, *impl_->limit, [&] {
        std::vector<MeasuredCandidate> candidates;
        const auto device_id = impl_->ids.find_device(environment.device);
        const auto problem_id = impl_->ids.find("problem", cells_of(problem));
        const auto policy_id = impl_->ids.find("policy", cells_of(policy));
        if (!device_id || !problem_id || !policy_id) return candidates;
        SQLite::Statement rows(
            impl_->database,
            fmt::format(
                "SELECT g.fields, x.measured_at, {} FROM (SELECT measurement.*, row_number() OVER (PARTITION BY config_id, kernel_hash "
                "ORDER BY measurement.id DESC) AS place "
                "FROM measurement JOIN environment ON environment.id = environment_id "
                "WHERE problem_id = ? AND policy_id = ? AND device_id = ?) AS x "
                "JOIN config AS g ON g.id = x.config_id WHERE x.place = 1 ORDER BY x.id DESC",
                measurement_columns("x")));
        rows.bind(1, *problem_id);
        rows.bind(2, *policy_id);
        rows.bind(3, *device_id);
        while (rows.executeStep()) {
            RowReader row(rows);
            MeasuredCandidate candidate;
            row.config(candidate.config);
            candidate.measured_at = row.integer("measured_at", kEarliestTime, kLatestTime);
            read_measurement(row, candidate.measurement);
            if (row.fault().empty()) candidates.push_back(std::move(candidate));
        }
        return candidates;
    });
}

void TuningDatabase::announce(const GemmProblem& problem, const KernelConfig& config, const std::string& kernel_name) {
    announce(problem, {{.config = config, .kernel_name = kernel_name}});
}

void TuningDatabase::announce(const GemmProblem& problem, const std::vector<Announcement>& announcements) {
    exchange(problem, {}, {}, announcements);
}

std::vector<MeasuredCandidate> TuningDatabase::deciding_measurements(const GemmProblem& problem) {
    std::vector<MeasuredCandidate> candidates = measurements(problem);
    return candidates.empty() ? measurements(problem, {.other_kernel = false}) : candidates;
}

void TuningDatabase::record(const GemmProblem& problem, const KernelConfig& config, const MeasurementPolicy& policy,
                            const Measurement& measurement) {
    exchange(problem, policy, {{.config = config, .measurement = measurement}}, {});
}

void TuningDatabase::exchange(const GemmProblem& problem, const MeasurementPolicy& policy, const std::vector<CandidateResult>& results,
                              const std::vector<Announcement>& announcements) {
    guarded(impl_->file, *impl_->limit, [&] {
        const SoleWriter writer;
        SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
        impl_->store_results(problem, policy, results);
        impl_->store_announcements(problem, announcements);
        transaction.commit();
    });
}

void TuningDatabase::withdraw(const GemmProblem& problem, const KernelConfig& config) {
    withdraw(problem, {{.config = config, .kernel_name = {}}});
}

void TuningDatabase::withdraw(const GemmProblem& problem, const std::vector<Announcement>& announcements) {
    const auto& environment = impl_->known_environment();
    guarded(impl_->file, *impl_->limit, [&] {
        const SoleWriter writer;
        SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
        const auto device_id = impl_->ids.find_device(environment.device);
        const auto problem_id = impl_->ids.find("problem", cells_of(problem));
        for (const Announcement& announcement : announcements) {
            const auto config_id = impl_->ids.find("config", cells_of(announcement.config));
            if (!device_id || !problem_id || !config_id) continue;
            SQLite::Statement change(impl_->database, "DELETE FROM in_flight WHERE device_id = ? AND problem_id = ? AND config_id = ?");
            change.bind(1, *device_id);
            change.bind(2, *problem_id);
            change.bind(3, *config_id);
            change.exec();
        }
        transaction.commit();
    });
}

std::vector<UnfinishedRun> TuningDatabase::unfinished_runs() {
    const auto& environment = impl_->known_environment();
    return guarded(impl_->file, *impl_->limit, [&] {
        std::vector<UnfinishedRun> runs;
        const auto device_id = impl_->ids.find_device(environment.device);
        if (!device_id) return runs;
        SQLite::Statement rows(impl_->database,
                               "SELECT p.fields, i.compute, g.fields, i.kernel_name, i.attempts, i.boot_id, i.process, i.started "
                               "FROM in_flight AS i JOIN problem AS p ON p.id = i.problem_id JOIN config AS g ON g.id = i.config_id "
                               "WHERE i.device_id = ? ORDER BY i.rowid");
        rows.bind(1, *device_id);
        const auto self = this_process();
        while (rows.executeStep()) {
            RowReader row(rows);
            UnfinishedRun run;
            row.problem(run.problem);
            row.compute(run.problem);
            row.config(run.config);
            run.kernel_name = row.text("kernel_name", kNameLimit);
            run.attempts = static_cast<int>(row.integer("attempts", 1, 1'000'000));
            ProcessIdentity announcer = parse_machine(row.text("boot_id", 100));
            announcer.process = row.integer("process", 0, kAnyNumber);
            announcer.started = row.integer("started", 0, kAnyNumber);
            run.is_elsewhere = announcer.host != self.host;
            run.machine_restarted = !run.is_elsewhere && announcer.boot_id != self.boot_id;
            if (!row.fault().empty() || (announcer != self && is_alive(announcer))) continue;
            runs.push_back(std::move(run));
        }
        return runs;
    });
}

void TuningDatabase::decide(const GemmProblem& problem, const MeasurementPolicy& policy, const Decision& decision) {
    decide({{problem, decision}}, policy);
}

void TuningDatabase::decide(const std::vector<std::pair<GemmProblem, Decision>>& decisions, const MeasurementPolicy& policy) {
    if (decisions.empty()) return;
    guarded(impl_->file, *impl_->limit, [&] {
        const SoleWriter writer;
        SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
        for (const auto& [problem, decision] : decisions)
            impl_->store_new({.kind = TuningRecord::Kind::selection,
                              .environment = impl_->known_environment(),
                              .problem = problem,
                              .config = decision.config,
                              .policy = policy,
                              .measurement = {.median_us = decision.median_us},
                              .candidates = decision.candidates,
                              .reason = decision.reason,
                              .search_hash = decision.search_hash,
                              .origin = decision.origin,
                              .default_us = decision.default_us,
                              .runner_up = decision.runner_up,
                              .runner_up_us = decision.runner_up_us,
                              .predicted = decision.predicted});
        transaction.commit();
    });
}

std::optional<TuningDatabase::Decision> TuningDatabase::decision(const GemmProblem& problem, const MeasurementPolicy& policy) {
    const auto& environment = impl_->known_environment();
    return guarded(impl_->file, *impl_->limit, [&]() -> std::optional<Decision> {
        const auto device_id = impl_->ids.find_device(environment.device);
        const auto problem_id = impl_->ids.find("problem", cells_of(problem));
        if (!device_id || !problem_id) return {};
        SQLite::Statement rows(
            impl_->database,
            fmt::format("SELECT g.fields, s.median_us, s.candidates, s.reason, s.search_hash, l.other_kernel, s.origin, e.driver_version, "
                        "e.nvrtc_version, "
                        "s.decided_at, {} "
                        "FROM temp.current_selection AS s JOIN environment AS e ON e.id = s.environment_id "
                        "JOIN policy AS l ON l.id = s.policy_id "
                        "JOIN config AS g ON g.id = s.config_id LEFT JOIN config AS r ON r.id = s.runner_up_config_id "
                        "WHERE s.device_id = ? AND s.problem_id = ? AND s.compute = ? AND l.cold_l2 = ? AND l.graph = ? AND l.data = ?",
                        run_off_columns("s", "r")));
        rows.bind(1, *device_id);
        rows.bind(2, *problem_id);
        rows.bind(3, std::int64_t{compute_field().get(problem)});
        rows.bind(4, std::int64_t{policy.cold_l2});
        rows.bind(5, std::int64_t{policy.graph});
        rows.bind(6, policy.data);
        if (!rows.executeStep()) return {};
        RowReader row(rows);
        Decision decision;
        row.config(decision.config);
        decision.median_us = row.real_or("median_us", 0);
        decision.candidates = static_cast<int>(row.integer("candidates", 0, kCountLimit));
        decision.reason = row.text("reason", kTextLimit);
        decision.search_hash = row.text("search_hash", kHashLimit);
        decision.back_to_back = row.integer("other_kernel", 0, 1) == 0;
        decision.origin = row.origin();
        decision.driver_version = static_cast<int>(row.integer("driver_version", 0, kVersionLimit));
        decision.nvrtc_version = static_cast<int>(row.integer("nvrtc_version", 0, kVersionLimit));
        decision.time = row.integer("decided_at", kEarliestTime, kLatestTime);
        read_run_off(row, decision);
        if (!row.fault().empty()) return {};
        return decision;
    });
}

std::vector<DeviceModel> TuningDatabase::devices() {
    return guarded(impl_->file, *impl_->limit, [&] {
        impl_->refuse_repeated("device");
        SQLite::Statement rows(impl_->database, "SELECT name, compute_capability, sm_count FROM device ORDER BY id");
        std::vector<DeviceModel> devices;
        while (rows.executeStep()) {
            RowReader row(rows);
            DeviceModel device;
            device.name = row.text("device", kDeviceNameLimit, 1);
            device.compute_capability = static_cast<int>(row.integer("compute_capability", 0, kCapabilityLimit));
            device.sm_count = static_cast<int>(row.integer("sm_count", 0, kSmLimit));
            if (row.fault().empty()) devices.push_back(std::move(device));
        }
        return devices;
    });
}

std::vector<WinnerRow> TuningDatabase::winners() {
    return guarded(impl_->file, *impl_->limit, [&] {
        impl_->refuse_repeated("selection");
        SQLite::Statement rows(
            impl_->database,
            "SELECT p.fields, s.compute, g.fields, d.name, d.compute_capability, d.sm_count, s.median_us, "
            "(SELECT x.error_ratio FROM measurement AS x JOIN environment AS ex ON ex.id = x.environment_id "
            "WHERE x.problem_id = s.problem_id AND x.policy_id = s.policy_id AND x.config_id = s.config_id "
            "AND ex.device_id = s.device_id ORDER BY x.id DESC LIMIT 1), s.reason, s.origin, s.default_us, s.predicted, "
            "s.runner_up_us "
            "FROM temp.current_selection AS s JOIN problem AS p ON p.id = s.problem_id JOIN config AS g ON g.id = s.config_id "
            "JOIN device AS d ON d.id = s.device_id JOIN policy AS l ON l.id = s.policy_id "
            "WHERE l.cold_l2 = 1 AND l.graph = 1 AND l.data = 'normal' ORDER BY s.id");
        std::vector<WinnerRow> winners;
        int skipped = 0;
        std::string fault;
        while (rows.executeStep()) {
            RowReader row(rows);
            WinnerRow winner;
            row.problem(winner.problem);
            row.compute(winner.problem);
            row.config(winner.config);
            winner.device = row.text("device", kDeviceNameLimit, 1);
            winner.compute_capability = static_cast<int>(row.integer("compute_capability", 0, kCapabilityLimit));
            winner.sm_count = static_cast<int>(row.integer("sm_count", 0, kSmLimit));
            winner.median_us = row.real_or("median_us", 0);
            winner.error_ratio = row.real_or("error_ratio", -1, kErrorRatio);
            winner.reason = row.text("reason", kTextLimit);
            winner.origin = row.origin();
            winner.default_us = row.real_or("default_us", 0);
            winner.predicted = row.integer("predicted", 0, 1) != 0;
            const double runner_up_us = row.real_or("runner_up_us", 0);
            if (winner.origin == "raced") winner.library_us = runner_up_us;
            if (row.fault().empty()) {
                winners.push_back(std::move(winner));
            } else if (skipped++ == 0) {
                fault = row.fault();
            }
        }
        if (skipped)
            log_line(fmt::format("{}: {} winner{} left out ({}); 'tmm-db verify' names {}", impl_->file.string(), skipped,
                                 skipped == 1 ? "" : "s", fault, skipped == 1 ? "it" : "them"));
        sort_for_reading(winners);
        return winners;
    });
}

}  // namespace tmm
