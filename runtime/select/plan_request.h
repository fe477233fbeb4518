// What a plan is asked for, and what plans are kept by.
#pragma once

#include <cstddef>
#include <cstdint>

#include "generator/kernel/expression.h"
#include "generator/plan/launch_plan.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

struct PlanRequest {
    GemmProblem problem;
    // Bytes of workspace that the plan may need at most.
    std::int64_t most_workspace = kAnyWorkspace;
    // The epilogue of a problem with Epilogue::custom.
    Expression expression = {};

    friend bool operator==(const PlanRequest&, const PlanRequest&) = default;
};

struct PlanRequestHash {
    std::size_t operator()(const PlanRequest& key) const noexcept;
};

}  // namespace tmm
