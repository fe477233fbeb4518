#include "bench/timing/read_floor.h"

#include <algorithm>

namespace tmm::bench {

ReadFloor read_floor(const CeilingSweep& sweep, const Operands& operands, std::int64_t rotation_bytes) {
    ReadSets sets;
    for (int set = 0; set < operands.sets(); ++set) sets.push_back(operands.read_ranges(set));
    std::int64_t read = 0;
    for (const ByteRange& range : sets.front()) read += range.bytes;
    DeviceBuffer own;
    if (operands.past_cache() && read > 0 && read * operands.sets() < rotation_bytes) {
        const std::int64_t spanning = (rotation_bytes + read - 1) / read;
        sets = sweep.sets_like(sets.front(), std::min<std::int64_t>(spanning, Operands::kMostSets), own);
    }
    // Pairs were timed just before, so the clock changes little.
    const SettleOptions& settle = sweep.options().settle;
    return sweep.read(sets, {.least_seconds = settle.least_seconds / 4, .most_seconds = settle.most_seconds / 4});
}

}  // namespace tmm::bench
