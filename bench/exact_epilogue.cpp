// Epilogues in double precision; see exact_epilogue.h.
#include "bench/exact_epilogue.h"

#include <cmath>

#include "tmm/number/arithmetic.h"
#include "tmm/verify/epilogue.h"

namespace tmm::bench {

ExactEpilogue::ExactEpilogue(const Operands& operands, int set)
    : problem_(operands.shape().problem), bias_(operands.first_bias(set)), residual_(operands.first_residual(set)) {}

Bounded ExactEpilogue::finish(i64 batch, i64 row, i64 column, const Bounded& x) const {
    const GemmProblem& p = problem_;
    if (p.epilogue == Epilogue::none) return x;
    const double bias = p.bias == BiasAxis::none ? 0 : bias_[p.bias == BiasAxis::rows ? row : column];
    const double residual = p.residual ? residual_[batch * p.stride_r + row * p.ldr + column] : 0;
    const double biased = x.value + bias;
    const double activated = activated_in_double(p.activation, biased);
    return {.value = activated + residual,
            .error = epilogue_error(p.activation, x.error, biased, activated, residual, arithmetic_of(p).accumulator_roundoff())};
}

}  // namespace tmm::bench
