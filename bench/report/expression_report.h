// The output of tmm-bench --expression: the table on stdout, and the same as CSV.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/text/terminal.h"
#include "bench/comparison/expression_benchmark.h"
#include "bench/comparison/run_info.h"

namespace tmm::bench {

// The head of the table; a shape's lines follow as it has been timed.
void print_head(std::ostream& out, const RunInfo& info, const std::string& expression, const Screen& screen);
void print_result(std::ostream& out, const ExpressionResult& result, const Screen& screen);
// Prints the geometric means over the shapes, and the worst of each.
void print_means(std::ostream& out, const std::vector<ExpressionResult>& results);

std::string expression_csv(const RunInfo& info, const std::string& expression, const std::vector<ExpressionResult>& results);

}  // namespace tmm::bench
