#include "generator/families/host_cost.h"

#include <cmath>

#include "generator/families/family.h"
#include "host/portable_math.h"

namespace tmm {

using namespace host_cost;

HostWork host_work(const Schedule& s) {
    return {.threads = static_cast<double>(s.blocks) * threads_of(s.config),
            .depth = std::ceil(static_cast<double>(s.product.k) / s.config.split_k)};
}

double host_time_of_tiles(const Schedule& schedule, double phase, double fma) {
    const KernelConfig& c = schedule.config;
    const HostWork work = host_work(schedule);
    const double phases = std::ceil(work.depth / c.block_k);
    const double tile = static_cast<double>(c.block_m) * c.block_n * c.block_k / threads_of(c);
    // What slices and clusters bring each other waits at barriers, too.
    const double waiting = kSwitch * ((c.slice_k > 1 ? 1 + portable::log2(c.slice_k) : 0) + (c.cluster > 1 ? 2 : 0));
    return work.threads * (phases * (phase + tile * fma) + waiting);
}

}  // namespace tmm
