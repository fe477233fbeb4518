// The tensor maps of a plan's step. All that they tell of a matrix but where it lies is the same for all calls of a plan, so that they are
// encoded when the plan is made; but where a driver encodes addresses in a way of its own, it encodes the maps of each call.
#pragma once

#include <cstddef>
#include <vector>

#include "generator/plan/launch_plan.h"
#include "runtime/device/device.h"
#include "tmm/vocabulary/tensor_map.h"

namespace tmm {

class StepMaps {
public:
    StepMaps() = default;
    // Without maps for steps that have none.
    StepMaps(const Device& device, const LaunchPlan& plan, const LaunchStep& step);

    // Writes the maps that the step's bound arguments lack.
    void write(const Device& device, const LaunchStep& step, std::byte* arguments) const;
    // Only addresses are left to put in.
    bool are_encoded() const { return are_encoded_; }

private:
    struct Map {
        TensorMap encoded;
        // Where it stands in the arguments, and where the address of its matrix does.
        std::size_t offset = 0;
        std::size_t address = 0;
    };

    // Throws std::logic_error where a map is of something else than the matrices of GemmArgs.
    static std::vector<Map> maps_of(const Device& device, const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call);

    void put_addresses(const Device& device, std::byte* arguments) const;
    // Do maps with a call's addresses put in equal those that are encoded for the call?
    bool equal_encoded(const Device& device, const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call) const;

    bool are_encoded_ = false;
    std::vector<Map> maps_;
    // Those of calls that read neither A nor B.
    std::vector<Map> maps_without_k_;
};

}  // namespace tmm
