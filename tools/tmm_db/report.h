// What diff and stale print, as text for people.
#pragma once

#include <string>
#include <vector>

#include "tools/tmm_db/report_text.h"

namespace tmm {

struct StaleWinners;      // tools/tmm_db/stale_command.h
struct WinnerDifference;  // tools/tmm_db/winner_difference.h

// diff: where two databases' winners differ, and how their times compare.
std::string difference_report(const WinnerDifference& difference, const ReportOptions& options);
// stale: the winners that tmm-tune would look at again, and what has changed since they were decided on.
std::string stale_report(const std::vector<StaleWinners>& devices, const ReportOptions& options);

}  // namespace tmm
