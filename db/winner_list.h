// The winners that ls and shipped list.
#pragma once

#include <string>
#include <vector>

#include "db/report_text.h"

namespace tmm {

// The rows of the devices that the filter takes.
std::vector<WinnerRow> winners_of(TuningDatabase& database, const DeviceFilter& devices);
// Those that ship, in the order of a database's.
std::vector<WinnerRow> shipped_winners_of(const DeviceFilter& devices);

// A line a winner, in a table for each device. Where all are measured and of the usual origin, that is not shown.
std::string winners_report(const std::vector<WinnerRow>& winners, const std::string& usual_origin, const ReportOptions& options);
std::string winners_json(const std::vector<WinnerRow>& winners);

}  // namespace tmm
