// What the library runs for a problem, as the tools show it. The runtime chooses it, which the database's part of the program can't ask.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "db/store/tuning_database.h"

namespace tmm {

struct LibraryChoice {
    KernelConfig config = {};
    // The winner that serves, of this very problem, though perhaps of another compute mode or shipped with tmm; nothing where it has none.
    std::optional<WinnerRow> winner = {};
    // "exact", "near", "predicted" or "fallback".
    std::string match = {};
    // Why, in one sentence, where there is no winner.
    std::string why = {};
    // 0 where the config was not measured for this problem.
    double measured_us = 0;
};

enum class ChoiceFrom { winners_of_the_problem, all };

// The choice for a problem on a device; nothing where tmm does not know the device's generation, or where no winner of the very problem
// serves and no more is asked for: what else runs takes milliseconds to find.
using LibraryChooser = std::function<std::optional<LibraryChoice>(const DeviceModel& device, const GemmProblem& problem, ChoiceFrom from)>;
// Chooses as a program does that uses this database, or none.
using LibraryChooserMaker = std::function<LibraryChooser(const std::optional<std::filesystem::path>& database)>;

}  // namespace tmm
