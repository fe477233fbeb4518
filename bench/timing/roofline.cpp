#include "bench/timing/roofline.h"

#include <algorithm>

namespace tmm::bench {

Unit unit_of(const GemmProblem& problem) {
    if (problem.type_a == ElementType::f16) return Unit::f16;
    if (problem.type_a == ElementType::bf16) return Unit::bf16;
    if (problem.type_a == ElementType::f64) return Unit::f64;
    if (problem.type_a == ElementType::s8) return Unit::s8;
    return problem.compute == ComputeMode::tf32 ? Unit::tf32 : Unit::ffma;
}

std::string_view name_of(Bound bound) {
    switch (bound) {
        case Bound::read: return "read";
        case Bound::traffic: return "traffic";
        case Bound::fma: return "fma";
        case Bound::launch: return "launch";
    }
    return "?";
}

Floor floor_of(const Demand& demand, const DeviceCeilings& ceilings) {
    const auto time = [](double amount, double rate) { return amount > 0 && rate > 0 ? amount / rate : 0; };
    const double own_rate = time(demand.read_bytes, demand.read_us);
    const double traffic = demand.written_bytes > 0 ? demand.read_bytes + demand.written_bytes : 0;
    Floor floor{.read_us = demand.read_us,
                .traffic_us = time(traffic, std::max(ceilings.read_bytes_per_us, own_rate)),
                .fma_us = time(demand.flop, ceilings.flop_per_us(demand.arithmetic)),
                .launch_us = ceilings.launch_gap_us};
    floor.us = floor.launch_us;
    const auto raise = [&floor](double us, Bound bound) {
        if (us <= floor.us) return;
        floor.us = us;
        floor.bound = bound;
    };
    raise(floor.read_us, Bound::read);
    raise(floor.traffic_us, Bound::traffic);
    raise(floor.fma_us, Bound::fma);
    return floor;
}

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
