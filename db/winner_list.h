// The winners that ls and shipped list.
#pragma once

#include <string>
#include <vector>

#include "db/report_text.h"

namespace tmm {

// The rows of the devices that the options name.
std::vector<WinnerRow> winners_of(TuningDatabase& database, const ReportOptions& options);
// Those that ship, in the order of a database's.
std::vector<WinnerRow> shipped_winners_of(const ReportOptions& options);

// ls: a line a winner.
std::string winners_report(TuningDatabase& database, const ReportOptions& options);
// shipped: the same list for the winners that ship with tmm.
std::string shipped_report(const ReportOptions& options);
std::string winners_json(const std::vector<WinnerRow>& winners);

}  // namespace tmm
