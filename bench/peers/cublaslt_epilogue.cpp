// cuBLASLt's epilogues; see cublaslt_epilogue.h.
#include "bench/peers/cublaslt_epilogue.h"

namespace tmm::bench {
namespace {

std::optional<std::uint32_t> value_for(Activation activation, bool has_bias) {
    switch (activation) {
        case Activation::none: return has_bias ? kLtEpilogueBias : kLtEpilogueDefault;
        case Activation::relu: return has_bias ? kLtEpilogueReluBias : kLtEpilogueRelu;
        case Activation::gelu_tanh: return has_bias ? kLtEpilogueGeluBias : kLtEpilogueGelu;
        case Activation::gelu:
        case Activation::silu:
        case Activation::sigmoid:
        case Activation::tanh:
        case Activation::swiglu:
        case Activation::swiglu_rows: break;
    }
    return std::nullopt;
}

}  // namespace

std::optional<LtEpilogue> own_epilogue(const GemmProblem& p) {
    const bool activates = p.activation != Activation::none;
    if (p.epilogue == Epilogue::custom || p.bias == BiasAxis::rows) return std::nullopt;
    // There is one matrix C: it holds the residual, or what beta multiplies.
    if (p.residual && (activates || p.reads_c)) return std::nullopt;
    const bool has_bias = p.bias == BiasAxis::columns;
    const std::optional<std::uint32_t> value = value_for(p.activation, has_bias);
    if (!value) return std::nullopt;
    return LtEpilogue{.value = *value, .has_bias = has_bias, .type_bias = p.type_bias, .residual_as_c = p.residual};
}

}  // namespace tmm::bench
