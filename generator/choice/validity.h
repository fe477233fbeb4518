// Which problems tmm serves, and which configs keep what a compute mode promises. What makes a config valid for a problem is
// generator/plan/resolve.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "generator/machine/device_info.h"
#include "generator/plan/resolve.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Are there kernels, of whatever device, for the types of A, B and C, and for the compute mode with them?
bool serves_types(const GemmProblem& problem);
bool serves_mode(const GemmProblem& problem);

// Why no kernel of the signature can be made of the config, whatever the sizes, in words; nothing where one can. Any numbers may stand in
// the config.
std::optional<std::string> why_no_kernel(const KernelConfig& config, const KernelSignature& signature);

// Why no config at all serves the problem, in words, where `reason` is why the one of last resort can't.
std::string why_none_serves(const GemmProblem& problem, const std::string& reason);

// Why the config does not keep what the problem's compute mode promises: with f32 and f32_strict the root of the mean
// square of |error| / (|A| |B|) is at most 1.125 times, and the worst of 256 elements on average at most 1.25 times, that of a loop of
// FP32 FMAs in the order of k (docs/accuracy.md; tmm-bench --accuracy measures it). Nothing where it does.
std::optional<std::string> why_inaccurate(const Schedule& schedule);

// The order in which the config adds up products; and the one in which all configs do that an invariant problem of these n, k, types and
// operations has on the device, whatever m is.
SumOrder order_of_sums(const Schedule& schedule);
SumOrder invariant_order(const GemmProblem& problem, const DeviceInfo& device);
// "one FMA after the other, k ascending"
std::string_view words_of(SumOrder order);

// Why the config does not keep what the problem promises: its accuracy, and the order of its sums where it is invariant.
std::optional<std::string> why_promise_broken(const Schedule& schedule, const DeviceInfo& device);

// Why the config can't serve the problem on the device (resolve.h), or would not keep such a promise; nothing where it may. Any numbers may
// stand in the config.
std::optional<std::string> rejection_reason(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

}  // namespace tmm
