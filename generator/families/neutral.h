// What descriptors say where a family has nothing of its own to say: each is named, so that its silence is seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/families/family.h"

namespace tmm {

// PhaseLoads of families whose blocks compute block_m x block_n.
inline double flop_per_load_of_tile(const KernelConfig& c) {
    return 2.0 * c.block_m * c.block_n / (c.block_m + c.block_n);
}
inline PhaseLoads loads_by_copy_engine(const KernelConfig& c) {
    return {.elements = static_cast<double>(c.block_k) * (c.block_m + c.block_n) * c.planes,
            .by_copy_engine = true,
            .flop_per_load = flop_per_load_of_tile(c)};
}

namespace neutral {

// KernelFacts and Rules.
inline const char* plain_arguments(const KernelConfig&) {
    return "tmm::GemmArgs";
}
inline std::string no_preamble(const KernelSignature&, const KernelConfig&) {
    return {};
}
// The config's own field.
inline int field_cluster(const KernelConfig& config) {
    return config.cluster;
}

// Product.
inline std::optional<std::string> serves_all(const GemmProblem&, const KernelConfig&, const DeviceInfo&) {
    return std::nullopt;
}
inline int unbounded(const KernelConfig&) {
    return 0;
}
inline bool never(const KernelConfig&) {
    return false;
}
inline bool never_for(const GemmProblem&) {
    return false;
}
inline bool always_for(const GemmProblem&) {
    return true;
}
inline bool never_on(const GemmProblem&, const DeviceInfo&) {
    return false;
}
inline bool never_with(const GemmProblem&, const KernelConfig&) {
    return false;
}
inline i64 chain_of_k(const GemmProblem&, const KernelConfig&, i64 k) {
    return k;
}
inline std::vector<KernelConfig> no_defaults(const GemmProblem&, const DeviceInfo&) {
    return {};
}
inline std::vector<KernelConfig> no_default_variants(const KernelConfig&) {
    return {};
}
inline std::vector<KernelConfig> no_variants(const GemmProblem&, const KernelConfig&) {
    return {};
}
inline KernelConfig as_tuned(const GemmProblem&, const GemmProblem&, const KernelConfig& config) {
    return config;
}
inline Crowding no_crowding(const GemmProblem&, const KernelConfig&, const DeviceInfo&) {
    return {};
}
inline OperandCopies no_copies(const GemmProblem&, const KernelConfig&, const Extent&) {
    return {};
}
inline KernelSignature original_layout(const GemmProblem& problem, const KernelConfig&) {
    return signature_of(problem);
}
inline bool leaves_gates(const GemmProblem&, const KernelConfig&) {
    return false;
}
inline void no_steps(PlanBuilder&) {}
inline TensorMapRequests no_tensor_maps(const LaunchStep&, const std::byte*) {
    return {};
}

}  // namespace neutral
}  // namespace tmm
