// The output of tmm-bench: the table on stdout, its means, and the same as CSV and JSON with all that a figure's meaning depends on.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/text/terminal.h"
#include "base/text/text_table.h"
#include "bench/comparison/run_info.h"
#include "bench/comparison/shape_benchmark.h"

namespace tmm::bench {

// Prints a line a shape as it comes, in columns whose widths are known from the start.
class Table {
public:
    Table(std::ostream& out, const std::vector<Shape>& shapes, const RunInfo& info, const Screen& screen);
    void row(const ShapeResult& result);

private:
    std::ostream& out_;
    RunInfo info_;
    // Whether some shape has one, and with it a column that says how the best peer served it.
    bool epilogues_;
    std::size_t columns_;
    TableLayout layout_;
};

// Prints the geometric means over each class, over the aligned shapes where there are others too, and over all; the slowest shape; and how
// many shapes were left out because tmm is less accurate there than its peer. Prints nothing without a peer.
void print_means(std::ostream& out, const std::vector<ShapeResult>& results, const Screen& screen);

// Geometric means of time / floor over the shapes of one class that have a floor and a time and are no less accurate than their peer.
struct ClassDistance {
    // The class; without one the means are over all shapes.
    std::optional<ShapeClass> shape_class;
    int shapes = 0;
    Interval tmm;
    // Best peer of each shape; nothing where some shape has none.
    std::optional<Interval> peer;
};
// The classes in their order, then all; empty where no shape has a floor.
std::vector<ClassDistance> mean_distances(const std::vector<ShapeResult>& results);

// Prints, with --roofline, the ceilings, each shape's floor and how far tmm and its peers are above it, and the means.
void print_roofline(std::ostream& out, const RunInfo& info, const std::vector<ShapeResult>& results, const Screen& screen);

std::string csv(const RunInfo& info, const std::vector<ShapeResult>& results);
std::string json(const RunInfo& info, const std::vector<ShapeResult>& results);

}  // namespace tmm::bench
