#include "generator/plan/workspace_estimate.h"

#include "generator/families/family.h"
#include "generator/plan/launch_plan.h"

namespace tmm {

double workspace_estimate(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    const Extent main = main_extent(p, c);
    const int parts = partial_results(c);
    const double partials = parts > 1 ? static_cast<double>(p.batch) * kPartialBytes * parts * static_cast<double>(main.rows) *
                                            static_cast<double>(workspace_ld(main.columns))
                                      : 0;
    return partials + product_of(c).workspace_of_operands(p, c, device);
}

}  // namespace tmm
