// A part of the shapes, where several machines tune one list and tmm-db merge joins what they found.
#pragma once

#include <string_view>
#include <vector>

#include "generator/text/shapes_file.h"

namespace tmm {

struct Shard {
    int index = 0;
    int count = 1;
};

// "2/16" is the third of sixteen parts: the index counts from 0, as those of job arrays do. Throws Error (usage).
Shard parse_shard(std::string_view text);

// Every count-th of the shapes, from the index-th on: parts of a list that a shapes file gives, where no problem stands twice, have none in
// common, and together they have all.
std::vector<Shape> shapes_of(const Shard& shard, const std::vector<Shape>& shapes);

}  // namespace tmm
