// What a call does, step by step: computed from problem, config and device alone, so that what is measured is what ships.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "generator/kernel/expression.h"
#include "generator/machine/device_info.h"
#include "generator/plan/resolve.h"
#include "generator/schedule/schedule.h"
#include "generator/steps/launch_step.h"
#include "tmm/vocabulary/config.h"

namespace tmm {

// A bound on workspace that binds nothing.
inline constexpr std::int64_t kAnyWorkspace = std::numeric_limits<std::int64_t>::max();

// A schedule, and the steps that carry it out.
struct LaunchPlan : Schedule {
    // There are none where there is nothing to do (m or n or batch is 0).
    std::vector<LaunchStep> steps;
    // The epilogue of a problem with Epilogue::custom.
    Expression expression = {};
};

// The config must be valid for the problem (resolve.h).
LaunchPlan make_launch_plan(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, Expression expression = {},
                            EpiloguePlace place = EpiloguePlace::kernel);

// Writes the arguments of one of the plan's steps (LaunchStep::bind).
std::size_t bind_step(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments);

// The step that multiplies, beside those that bring the operands to it or sum its parts; 0 where there are no steps.
std::size_t main_step(const LaunchPlan& plan);

// What a preparation of the operand fills; 0 where the plan does not split it.
std::int64_t prepared_bytes(const LaunchPlan& plan, GemmOperand operand);

}  // namespace tmm
