// Epilogues in double precision; see exact_epilogue.h.
#include "bench/accuracy/exact_epilogue.h"

#include <cmath>
#include <stdexcept>

#include "tmm/number/arithmetic.h"
#include "tmm/verify/epilogue.h"

namespace tmm::bench {

ExactEpilogue::ExactEpilogue(const Operands& operands, int set)
    : problem_(operands.shape().problem), bias_(operands.first_bias(set)), residual_(operands.first_residual(set)) {
    if (problem_.epilogue == Epilogue::custom) throw std::invalid_argument("an expression has no exact result");
}

double ExactEpilogue::bias_at(i64 row, i64 column) const {
    if (problem_.bias == BiasAxis::none) return 0;
    return bias_[problem_.bias == BiasAxis::rows ? row : column];
}

Bounded ExactEpilogue::finish(i64 batch, i64 row, i64 column, const Bounded& x, const Bounded& value) const {
    const GemmProblem& p = problem_;
    if (p.epilogue == Epilogue::none) return x;
    const double residual = p.residual ? residual_[batch * p.stride_r + row * p.ldr + column] : 0;
    const double biased = x.value + bias_at(row, column);
    const double roundoff = arithmetic_of(p).accumulator_roundoff();
    if (is_gate(p.activation)) {
        const bool of_rows = gates_rows(p.activation);
        const double gated = value.value + bias_at(of_rows ? rows_of_c(p) + row : row, of_rows ? column : columns_of_c(p) + column);
        return {.value = gated_in_double(biased, gated) + residual,
                .error = gate_error(biased, x.error, gated, value.error, residual, roundoff)};
    }
    const double activated = activated_in_double(p.activation, biased);
    return {.value = activated + residual, .error = epilogue_error(p.activation, x.error, biased, activated, residual, roundoff)};
}

}  // namespace tmm::bench
