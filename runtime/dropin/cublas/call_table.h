// TMM_LOG=info: a table at the program's end, of who multiplied what, and the time that it saved.
#pragma once

#include <string>

#include "runtime/dropin/cublas/problem_table.h"

namespace tmm::dropin {

// The decision is never destroyed. shape: a line of a shapes file. Does nothing where the table is not logged.
void add_to_table(const Decision& decision, const std::string& shape);

}  // namespace tmm::dropin
