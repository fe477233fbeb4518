// Looks up what is known of one problem, device by device: in a database, among the winners that ship, and what the library would run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "tools/tmm_db/device_filter.h"
#include "tools/tmm_db/library_choice.h"

namespace tmm {

// The measurements and the decisions for one problem on one device under the default policy.
struct ProblemOnDevice {
    DeviceInfo device;
    // The same device as predictions see it; nothing for the emulated device and where tmm does not know its generation.
    std::optional<DeviceInfo> modelled;
    // The newest measurement of each config: those that are ok first, ordered by time.
    std::vector<TuningRecord> candidates;
    // The decision that counts for the problem's compute mode, and those of its other modes.
    std::optional<TuningRecord> decision;
    std::vector<TuningRecord> other_modes;
    // What the library runs there; nothing where nobody was asked, or tmm does not know the device's generation.
    std::optional<LibraryChoice> choice;

    bool is_tuned() const { return decision || !candidates.empty(); }
    // The decision whose winner runs, which may be another mode's. Null where the problem has none; its own where no choice says otherwise.
    const TuningRecord* serving() const;
    // The candidate of that config; null where its measurement is not in this database.
    const TuningRecord* candidate(const KernelConfig& config) const;
    // How many candidates have each outcome.
    std::map<Outcome, int> outcomes() const;
};

// What is asked of look_up().
struct ProblemQuery {
    GemmProblem problem;
    DeviceFilter devices = {};
    // May be empty.
    LibraryChooser choose = {};
};

// database: null where there is none. Without a filter the devices that the database has the problem of; where it has none of it, those
// that it ships for; where nobody has tuned it, all that the database knows, else those that winners ship for, with what runs there.
std::vector<ProblemOnDevice> look_up(TuningDatabase* database, const ProblemQuery& query);
// The names of the devices that a query's filter may name.
std::vector<std::string> known_devices(TuningDatabase* database);
// Throws Error (no_winner) that names the nearest tuned problems.
[[noreturn]] void fail_untuned(TuningDatabase* database, const ProblemQuery& query);

}  // namespace tmm
