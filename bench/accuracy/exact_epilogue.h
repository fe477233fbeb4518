// What an epilogue makes of the elements of C, in double precision, with the bias and residual of one set of operands.
#pragma once

#include "bench/operands/operands.h"

namespace tmm::bench {

// A value, and how far a result may be off from it before it is rounded to the type of C.
struct Bounded {
    double value = 0;
    double error = 0;
};

class ExactEpilogue {
public:
    // Without operands it leaves all as it is.
    ExactEpilogue() = default;
    ExactEpilogue(const Operands& operands, int set);

    // What becomes of x = alpha * op(A) * op(B) + beta * C at this place of C. value: what a gate is for, which stands columns_of_c()
    // behind x in the product, or rows_of_c() below it; x is then the gate's.
    Bounded finish(i64 batch, i64 row, i64 column, const Bounded& x, const Bounded& value = {}) const;

private:
    double bias_at(i64 row, i64 column) const;

    GemmProblem problem_;
    FilledMatrix bias_;
    FilledMatrix residual_;
};

}  // namespace tmm::bench
