// Simulates how long tmm-tune searches shapes on a GPU, from the times that were recorded of some on one
// (bench/recording/recorded_times.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/recording/recorded_times.h"
#include "generator/text/shapes_file.h"

namespace tmm::testing {

// A shape, and the recorded one whose times speak of its own.
struct ShapeLike {
    Shape shape;
    const bench::RecordedProblem* recorded = nullptr;
};

// The recorded shapes that are complete, and others like them: each size half to twice as large. No problem stands twice.
std::vector<ShapeLike> shapes_like(const bench::RecordedTimes& recorded, std::size_t count, std::uint64_t seed);

// Wall-clock seconds of the shape's search by `normal`. Its candidates take as many times what is predicted of them as they did at the
// recorded shape, or, where they were not recorded there, as the others did in the median.
double search_seconds(const ShapeLike& like, const DeviceInfo& device);

}  // namespace tmm::testing
