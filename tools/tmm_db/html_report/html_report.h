// A tuning database as one HTML file: rooflines, heat maps, what was tried, winners and failures. It opens without a network.
#pragma once

#include <filesystem>
#include <string>

#include "tools/tmm_db/html_report/report_content.h"

namespace tmm {

// The page's text. Throws Error (usage) where tmm was built without Chart.js.
std::string html_report(const ReportContent& content);

// Writes the page to the file, whose earlier content goes.
void write_html_report(const ReportContent& content, const std::filesystem::path& file);

}  // namespace tmm
