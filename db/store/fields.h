// What the database has of GemmProblem's fields (kProblemFields), and which values belong together.
#pragma once

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

}  // namespace tmm
