// A plan while its steps are added: what families add around their products (Product::add_steps_before, add_steps_behind).
#pragma once

#include <cstdint>

#include "generator/plan/launch_plan.h"

namespace tmm {

class PlanBuilder {
public:
    using Bind = std::size_t (*)(const LaunchStep&, const GemmProblem&, const GemmCall&, std::byte*);

    // C must not be empty.
    PlanBuilder(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

    const GemmProblem& problem() const { return plan_.problem; }
    const KernelConfig& config() const { return plan_.config; }
    const DeviceInfo& device() const { return device_; }
    // The part of C that the product computes by whole tiles, and all of C.
    const Extent& extent() const { return extent_; }
    const Extent& whole() const { return whole_; }
    const PackingBeside& packing() const { return packing_; }
    const PackedStrips& strips() const { return strips_; }

    LaunchStep& add(const KernelSignature& signature, const KernelConfig& kernel, const Extent& part, std::int64_t grid, Bind bind);
    // The product's own step.
    void add_product();
    // What adds up partial results, where the config leaves any: of the tiles that blocks share, and of parts of K.
    void add_sums();

    // What the operands are brought to stands first in the workspace, and partial results stand behind it.
    void take_workspace(std::int64_t bytes) { plan_.workspace_bytes += bytes; }
    StripSums take_strip_sums();
    std::int64_t partials_offset() const { return partials_offset_; }
    void end_operands() { partials_offset_ = plan_.workspace_bytes; }

    LaunchPlan finish() &&;

private:
    LaunchPlan plan_;
    const DeviceInfo& device_;
    Extent whole_;
    Extent extent_;
    PackingBeside packing_;
    PackedStrips strips_;
    StripSums strip_sums_;
    PhaseLine line_;
    std::int64_t partials_offset_ = 0;
};

}  // namespace tmm
