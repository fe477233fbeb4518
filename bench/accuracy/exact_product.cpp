#include "bench/accuracy/exact_product.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "base/text/environment.h"
#include "tmm/checks/verify/args.h"
#include "tmm/checks/verify/epilogue.h"
#include "tmm/number/arithmetic.h"

namespace tmm::bench {

ExactMultiplier::ExactMultiplier(std::shared_ptr<Device> device)
    : device_(std::move(device)), loader_(device_, make_compiler(device_->info()), KernelCache(default_cache_directory())) {
    const char* const entry = "tmm_verify_reference";
    auto loaded = loader_.load(make_verify_source(), entry);
    if (const auto* failure = std::get_if<CompileFailure>(&loaded))
        throw Error(ExitStatus::no_compiler, fmt::format("{} does not compile: {}", entry, failure->log));
    kernel_ = std::get<KernelLoader::Loaded>(std::move(loaded)).kernel;
}

ExactProduct ExactMultiplier::multiply(const GemmProblem& p, const void* a, const void* b) {
    const auto elements = static_cast<std::size_t>(p.batch * p.m * p.n);
    ExactProduct product{.value = std::vector<double>(elements), .magnitude = std::vector<double>(elements)};
    if (elements == 0) return product;
    const std::size_t bytes = elements * sizeof(double);
    if (results_.bytes() != 2 * bytes) {
        results_ = {};
        results_ = DeviceBuffer(device_, 2 * bytes);
    }
    auto* const values = static_cast<double*>(results_.data());
    ReferenceArgs args = reference_of(p);
    args.a = a;
    args.b = b;
    args.sum = values;
    args.magnitude = values + elements;
    device_->launch(*kernel_, {.grid = reference_blocks(args), .threads = kReferenceThreads}, &args, sizeof args, nullptr);
    device_->copy_to_host(product.value.data(), values, bytes);
    device_->copy_to_host(product.magnitude.data(), values + elements, bytes);
    return product;
}

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
