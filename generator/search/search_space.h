// Which configs may serve a problem on a device, which may not and why.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

enum class Effort : int { quick = 0, normal = 1, full = 2 };

struct Rejection {
    KernelConfig config;
    // The rule, without numbers, by which rejections are counted, and the sentence with this config's numbers.
    std::string reason;
    std::string detail;
};

// A sentence without what it says in parentheses at its end and with … for every number that is no part of a name ("f32").
std::string without_numbers(std::string_view sentence);

// Reasons, and how many configs each has rejected.
std::map<std::string, int> count_by_reason(const std::vector<Rejection>& rejections);

struct SearchSpace {
    // The best guess comes first; default_config() leads.
    std::vector<KernelConfig> candidates;
    std::vector<Rejection> rejections;
};

// Is the problem too large for what other families' plans count with? Their configs are not valid for it.
bool is_left_to_naive(const GemmProblem& problem);

// Why no kernel of the signature can be made of the config, whatever the sizes, in words; nothing where one can. Any numbers may stand in
// the config.
std::optional<std::string> why_no_kernel(const KernelConfig& config, const KernelSignature& signature);

// Why the config can't serve the problem on the device, in words; nothing where it can. Any numbers may stand in the config, too.
std::optional<std::string> why_invalid(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// Why the config, valid or not, does not keep what the problem's compute mode promises: with f32 and f32_strict the root of the mean
// square of |error| / (|A| |B|) is at most 1.125 times, and the worst of 256 elements on average at most 1.25 times, that of a loop of
// FP32 FMAs in the order of k (docs/accuracy.md; tmm-bench --accuracy measures it). Nothing where it does.
std::optional<std::string> why_inaccurate(const GemmProblem& problem, const KernelConfig& config);

// Are there kernels that multiply the problem's types on the device's tensor cores?
bool has_tensor_core_kernels(const GemmProblem& problem, const DeviceInfo& device);

SearchSpace search_space(const GemmProblem& problem, const DeviceInfo& device, Effort effort);

// The config is always valid and always right, whatever the problem; it is not the fastest.
KernelConfig fallback_config(const GemmProblem& problem);
// What an untuned problem gets: a config that is valid, and a fair guess at fast; it needs no more than most_workspace bytes of workspace.
KernelConfig default_config(const GemmProblem& problem, const DeviceInfo& device,
                            std::int64_t most_workspace = std::numeric_limits<std::int64_t>::max());

}  // namespace tmm
