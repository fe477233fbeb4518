// What the steps before a product make of its operands.
#pragma once

#include <cstdint>

namespace tmm {

// One operand. Where no step copies it, the product finds it as the caller has it.
struct OperandCopy {
    bool is_made = false;
    std::int64_t bytes = 0;
    // Elements of the copy from one row, and from one matrix of the batch, to the next.
    std::int64_t ld = 0;
    std::int64_t stride = 0;
};

// In the workspace A's copy stands first, then B's, then the counters of blocks that pack.
struct OperandCopies {
    OperandCopy a;
    OperandCopy b;
    // Bytes between the copies and what stands behind them, which tiles may reach into.
    std::int64_t past_the_last = 0;
    std::int64_t counter_bytes = 0;
};

}  // namespace tmm
