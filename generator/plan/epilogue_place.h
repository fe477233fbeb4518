// Where a plan applies its problem's epilogue.
#pragma once

namespace tmm {

enum class EpiloguePlace {
    // In the kernel that makes the sums.
    kernel,
    // In a step behind a plain product, which leaves its sums in the workspace.
    step,
};

}  // namespace tmm
