// The output of tmm-bench --accuracy: the table on stdout, and the same as CSV and JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/text/terminal.h"
#include "bench/accuracy/accuracy_benchmark.h"
#include "bench/comparison/run_info.h"

namespace tmm::bench {

// The table has a line for each shape and family as it comes, in columns whose widths are known from the start.
class AccuracyTable {
public:
    AccuracyTable(std::ostream& out, const std::vector<Shape>& shapes, const RunInfo& info, const Screen& screen);
    // Writes the row of the family that was measured last, and before a shape's first family the shape's config.
    void row(const ShapeAccuracy& result);
    // Says why the shape failed, where it did.
    void end(const ShapeAccuracy& result);

private:
    std::ostream& out_;
    int shape_width_;
    std::size_t columns_;
    bool has_cublas_;
};

// Prints in how many rows tmm's promise holds.
void print_verdicts(std::ostream& out, const std::vector<ShapeAccuracy>& results);

std::string accuracy_csv(const RunInfo& info, const std::vector<ShapeAccuracy>& results);
std::string accuracy_json(const RunInfo& info, const std::vector<ShapeAccuracy>& results);

}  // namespace tmm::bench
