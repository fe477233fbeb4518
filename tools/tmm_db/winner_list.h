// The winners that ls and shipped list: those that the library runs.
#pragma once

#include <string>
#include <vector>

#include "tools/tmm_db/report_text.h"

namespace tmm {

struct ListedWinner {
    // What the library runs for the problem. Where that is another winner than the one that was decided on for it, config, times, reason
    // and origin are the other's.
    WinnerRow row;
    // Whose winner it is then: another compute mode's ("f32_strict"), one that ships ("shipped"), or what no winner of the very problem
    // decides ("near", "predicted", "fallback"). Empty where the problem's own runs.
    std::string served_by;
};
// Without a chooser each row stands for itself, and so does one that nobody measured where no winner of its problem serves: there may be
// very many, and what runs there is a prediction, too.
ListedWinner listed(WinnerRow row, const LibraryChooser& choose);
std::vector<ListedWinner> listed(const std::vector<WinnerRow>& rows, const LibraryChooser& choose);

// The rows of the devices that the options take, as they were decided on.
std::vector<WinnerRow> winners_of(TuningDatabase& database, const DeviceFilter& devices);
// Those that ship, in the order of a database's.
std::vector<WinnerRow> shipped_winners_of(const DeviceFilter& devices);

// A line a winner, in a table for each device. Where all are measured and of the usual origin, that is not shown.
std::string winners_report(const std::vector<ListedWinner>& winners, const std::string& usual_origin, const ReportOptions& options);
std::string winners_json(const std::vector<ListedWinner>& winners);

}  // namespace tmm
