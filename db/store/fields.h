// What the database has of GemmProblem's fields (kProblemFields), and which values belong together.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "db/store/measurement.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem_fields.h"

namespace tmm {

// The columns of the table `problem`: all fields but the promise.
const std::vector<ProblemField>& problem_fields();
// `compute`, the promise, which selections have and measurements have not.
const ProblemField& compute_field();

// Why the fields do not belong together (a leading dimension shorter than its row, …); empty where they do.
std::string why_inconsistent(const GemmProblem& problem);
// Says the same of a measurement: percentiles that are out of order, a result that passed with too large an error.
std::string why_inconsistent(const Measurement& measurement);

// Names of the values 0, 1, … as name_of() gives them.
template <typename Enum>
std::vector<std::string> names_of_all() {
    std::vector<std::string> names;
    for (int value = 0; name_of(static_cast<Enum>(value)) != "?"; ++value) names.emplace_back(name_of(static_cast<Enum>(value)));
    return names;
}

// Makes one line of at most `limit` bytes without control characters, cut between UTF-8 characters, which may stand in a text column and on
// a terminal.
std::string one_line(std::string_view text, std::size_t limit);

// Pieces that every JSON of the tools has in common.

using Json = nlohmann::ordered_json;

// Every field of kParameters under its name.
Json config_json(const KernelConfig& config);
// JSON has no infinity, and no number for what is unknown: both are null.
Json number_json(double value, bool known = true);
// {"device": "NVIDIA H200", "compute_capability": 90, "sm_count": 132}
Json device_json(const std::string& name, int compute_capability, int sm_count);
// The text ends with a line break; bytes that are no UTF-8 are replaced.
std::string json_text(const Json& json);

}  // namespace tmm
