// A report's content in the form that its scripts read.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/tmm_db/html_report/report_content.h"

namespace tmm {

// Columns of numbers, and of places in lists of strings: 400 winners and 40,000 candidates stay below 2 MB. data.js reads them.
nlohmann::json report_columns(const ReportContent& content);

}  // namespace tmm
