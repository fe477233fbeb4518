// A part of the shapes, where several machines tune one list and tmm-db merge joins what they found.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "generator/machine/device_info.h"
#include "generator/text/shapes_file.h"

namespace tmm {

struct Shard {
    int index = 0;
    int count = 1;
};

// "2/16" is the third of sixteen parts: the index counts from 0, as those of job arrays do. Throws Error (usage).
Shard parse_shard(std::string_view text);

// The shapes of one part, in their order. Parts of a list where no problem stands twice have none in common, and together they have all.
// They are expected to take equally long, and follow from the list alone: machines with different GPUs divide it in the same way.
std::vector<Shape> shapes_of(const Shard& shard, const std::vector<Shape>& shapes);

// About how many milliseconds a search of the problem takes by `normal`, whatever the GPU.
std::int64_t expected_milliseconds(const GemmProblem& problem);

// The shapes with the sample sizes of each size that varies (generator/choice/sample_sizes.h), no problem twice. They are the same on
// all devices of a model, whatever was measured of one.
std::vector<Shape> with_sample_sizes(const std::vector<Shape>& shapes, const DeviceInfo& device);

}  // namespace tmm
