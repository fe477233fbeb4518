// The tuning database: every measurement of every candidate, and the decisions made from them. db/store/schema.sql draws the tables.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/store/measurement.h"
#include "db/store/time_limit.h"
#include "generator/machine/device_info.h"
#include "generator/machine/measured_rates.h"

namespace tmm {

// Device, driver and compiler that measurements were taken with.
struct Environment {
    DeviceInfo device = {};
    int nvrtc_version = 0;
};

struct MeasuredCandidate {
    KernelConfig config = {};
    Measurement measurement = {};
    // Seconds since 1970.
    std::int64_t measured_at = 0;
};

// The newest row of each config, whatever text its kernel had, if it passed: the config may have been found wrong since an older row. The
// fastest comes first. rows: the newest first, as TuningDatabase::measurements gives them.
std::vector<MeasuredCandidate> verified_times(const std::vector<MeasuredCandidate>& rows);

// One problem's winner on one device.
struct WinnerRow {
    GemmProblem problem = {};
    std::string device = {};
    int compute_capability = 0;
    int sm_count = 0;
    KernelConfig config = {};
    double median_us = 0;
    double error_ratio = -1;
    std::string reason = {};
    // "user", "shipped" or "raced".
    std::string origin = {};
    // The default config's median in the same run-off; 0 where it was not in it.
    double default_us = 0;
    // Nothing was measured: the config is a guess by the model.
    bool predicted = false;
    // What the library took that a program called, where the origin is "raced"; 0 otherwise.
    double library_us = 0;
};

inline DeviceModel model_of(const WinnerRow& winner) {
    return {.name = winner.device, .compute_capability = winner.compute_capability, .sm_count = winner.sm_count};
}

// A run that was announced and never reported: its process was killed, or took the machine down.
struct UnfinishedRun {
    GemmProblem problem = {};
    KernelConfig config = {};
    std::string kernel_name = {};
    // Number of times that it was announced without a result.
    int attempts = 0;
    // Another host announced it, where it may be going on: what became of that cannot be seen from here. Announced again, it is this
    // host's.
    bool is_elsewhere = false;
    // Whether this host has announced it, and has restarted since.
    bool machine_restarted = false;
};

// A candidate that is about to run.
struct Announcement {
    KernelConfig config = {};
    std::string kernel_name = {};
};

struct CandidateResult {
    KernelConfig config = {};
    Measurement measurement = {};
};

// Rows that nobody can use, since their values are out of range or refer to rows that are missing.
struct LeftOut {
    int measurements = 0;
    int decisions = 0;
    int profiles = 0;
    // What is wrong with the first one, such as "slice_k is 77, outside 1 … 64".
    std::string reason = {};

    bool any() const { return measurements + decisions + profiles > 0; }
};
// "5 measurements and 1 decision left out (slice_k is 77, outside 1 … 64)".
std::string to_text(const LeftOut& left_out);

struct TuningRecord;  // db/store/records.h
struct RatesRecord;   // db/store/records.h

// One connection to a database file. It is not thread-safe; any number of connections and processes may use one file. Failures throw Error
// (database) that says why and what to do: missing directory, locked, damaged, foreign file, newer version.
class TuningDatabase {
public:
    static constexpr int kVersion = 14;
    // Both that write bring a file of an older version up to date. With read_only the file stays as it is, byte for byte.
    enum class Mode { read_write_create, read_write, read_only };

    // The patience holds here and in every call below.
    TuningDatabase(const std::filesystem::path& file, Mode mode, const Patience& patience = {});
    ~TuningDatabase();
    TuningDatabase(TuningDatabase&&) noexcept;

    // The rows of this environment's device (name, compute capability, SM count) are what the calls below read and write.
    void set_environment(const Environment& environment);

    // Measurements of the problem on the device under the policy: the newest (the one written last, whatever
    // the clock said) of each config and kernel_hash, newest first. Whether a
    // row's kernel_hash is still that of the kernel is for the caller to compare. The problem's compute mode does not matter:
    // it only filters which configs may win.
    std::vector<MeasuredCandidate> measurements(const GemmProblem& problem, const MeasurementPolicy& policy = {});
    // Those of the default policy, or where there are none those of times back to back, by which winners were decided before.
    std::vector<MeasuredCandidate> deciding_measurements(const GemmProblem& problem);

    // Announces that a candidate is about to run; this is committed before it runs. Several candidates run at the same time.
    void announce(const GemmProblem& problem, const KernelConfig& config, const std::string& kernel_name);
    void announce(const GemmProblem& problem, const std::vector<Announcement>& announcements);
    // Stores results, withdraws their announcements and announces what runs next, all in one transaction: each waits for the disk.
    void exchange(const GemmProblem& problem, const MeasurementPolicy& policy, const std::vector<CandidateResult>& results,
                  const std::vector<Announcement>& announcements);
    // Stores the result and withdraws the announcement, in one transaction.
    void record(const GemmProblem& problem, const KernelConfig& config, const MeasurementPolicy& policy, const Measurement& measurement);
    // Withdraws the announcement: whatever ended the run, the candidate was not to blame.
    void withdraw(const GemmProblem& problem, const KernelConfig& config);
    void withdraw(const GemmProblem& problem, const std::vector<Announcement>& announcements);
    // The unfinished runs on this device. Runs that another living process of this machine has announced are left out: they are going on.
    std::vector<UnfinishedRun> unfinished_runs();

    // The tuner's decision; the newest one counts. search_hash names the set of candidates it was made from, so that a later
    // run knows whether anything is missing. median_us is the winner's in the paired run-off.
    struct Decision {
        KernelConfig config = {};
        double median_us = 0;
        int candidates = 0;
        std::string reason = {};
        std::string search_hash = {};
        // Results of the same run-off: the default config's median, 0 where it was not in it, and the best of the other configs;
        // of origin "raced" the library, which is no config.
        double default_us = 0;
        std::optional<KernelConfig> runner_up = {};
        double runner_up_us = 0;
        // Nothing was measured: the config is a guess by the model.
        bool predicted = false;
        // By times of products that follow each other: how it would be with another kernel between was not measured.
        bool back_to_back = false;
        // "user", "shipped", or "raced": decided within a program whose library was the runner-up.
        std::string origin = "user";
        // With what and when it was made, in seconds since 1970; what decide() stores was made with this environment's, and now.
        int driver_version = 0;
        int nvrtc_version = 0;
        std::int64_t time = 0;
    };
    void decide(const GemmProblem& problem, const MeasurementPolicy& policy, const Decision& decision);
    // Stores all of them in one transaction: each waits for the disk.
    void decide(const std::vector<std::pair<GemmProblem, Decision>>& decisions, const MeasurementPolicy& policy);
    // Where there is no other, one by times back to back counts, too.
    std::optional<Decision> decision(const GemmProblem& problem, const MeasurementPolicy& policy = {});

    // Stores what was measured of the environment's device itself.
    void record(const MeasuredRates& rates);
    struct KnownRates {
        MeasuredRates rates = {};
        // They were measured with the device's driver and power limit.
        bool of_same_driver = false;
    };
    // What was last measured of a device of this model, if possible with its driver and power limit. Values that no such device can have
    // are left out, and a log line says so.
    std::optional<KnownRates> known_rates(const DeviceInfo& device);
    // All that was measured of devices, in the order it was written; rows that are left out are told of as records() does.
    std::vector<RatesRecord> rates_records(LeftOut* left_out = nullptr);

    // The devices that something was stored of.
    std::vector<DeviceModel> devices();
    // The view `winner`: default policy, every device, user rows before those of origin "shipped", and these before "raced".
    std::vector<WinnerRow> winners();

    // Every measurement and decision (of one problem, whatever its compute mode, where one is given), in the order they were written. Rows
    // that nobody can use are left out, counted in left_out where that is given, else in a log line; verify() names each.
    std::vector<TuningRecord> records(const std::optional<GemmProblem>& only = {}, LeftOut* left_out = nullptr);
    // Stores the records that are not there yet, in one transaction; returns how many measurements and decisions were new.
    struct Inserted {
        int measurements = 0;
        int selections = 0;
        // What was measured of devices themselves; exports do not hold it.
        int rates = 0;
        // What another database has and a merge could not take.
        LeftOut left_out = {};
    };
    Inserted insert(const std::vector<TuningRecord>& records, const std::vector<RatesRecord>& rates);
    Inserted insert(const std::vector<TuningRecord>& records);

    // Merges another tmm database into this one. The other file stays as it is.
    Inserted merge(const std::filesystem::path& other);
    struct ForgetRequest {
        std::vector<DeviceModel> devices = {};
        // In each of its compute modes; all problems where there is none, and what was measured of the devices themselves.
        std::optional<GemmProblem> problem = {};
        // Only measurements of which there is a later one of the same kernel and config, and decisions that a later one has replaced.
        bool only_superseded = false;
        // Nothing is removed, and the database may be one that is only read.
        bool only_count = false;
    };
    struct Forgotten {
        int measurements = 0;
        int decisions = 0;
        int announcements = 0;
        int profiles = 0;

        bool is_nothing() const { return measurements + decisions + announcements + profiles == 0; }
    };
    // Removes rows, and what nothing refers to any more, and makes the file smaller.
    Forgotten forget(const ForgetRequest& request);
    // Everything found wrong with the file: SQLite's integrity check, foreign keys, values out of range. The list is empty where the file
    // is sound.
    std::vector<std::string> verify();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace tmm
