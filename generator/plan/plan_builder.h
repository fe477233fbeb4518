// A plan while its steps are added: what families add around their products (Product::add_steps_before, add_steps_behind).
#pragma once

#include <cstdint>

#include "generator/plan/launch_plan.h"

namespace tmm {

class PlanBuilder {
public:
    using Bind = std::size_t (*)(const LaunchPlan&, const LaunchStep&, const GemmCall&, std::byte*);

    // C must not be empty.
    PlanBuilder(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, EpiloguePlace place);

    // What the steps multiply, and what was asked for (finishing_step.h).
    const GemmProblem& problem() const { return plan_.product; }
    const GemmProblem& asked() const { return plan_.problem; }
    const KernelConfig& config() const { return plan_.config; }
    const DeviceInfo& device() const { return device_; }
    const Geometry& geometry() const { return plan_.geometry; }

    LaunchStep& add(const KernelSignature& signature, const PlanKernel& kernel, const Extent& part, std::int64_t grid, Bind bind);
    // The product's own step.
    void add_product();
    // What adds up partial results, where the config leaves any: of the tiles that blocks share, and of parts of K.
    void add_sums();

    LaunchPlan finish() &&;

private:
    LaunchPlan plan_;
    const DeviceInfo& device_;
};

}  // namespace tmm
