// What diff, stale and verify print as JSON; docs/schema/ describes each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/tmm_db/report.h"

namespace tmm {

std::string difference_json(const WinnerDifference& difference);
std::string stale_json(const std::vector<StaleWinners>& devices);
std::string verification_json(const std::filesystem::path& file, const std::vector<std::string>& faults, std::size_t measurements,
                              std::size_t decisions);

}  // namespace tmm
