// The configs that a search of a problem on a device goes through, and why it leaves the others out.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

enum class Effort : int { quick = 0, normal = 1, full = 2 };

struct RejectedConfig {
    KernelConfig config;
    // The rule, without numbers. It stands in the search space's reasons.
    std::string_view reason;
};

// A sentence without what it says in parentheses at its end and with … for every number that is no part of a name ("f32").
std::string without_numbers(std::string_view sentence);

// Reasons, and how many configs each has rejected.
std::map<std::string, int> count_by_reason(const std::vector<RejectedConfig>& rejections);

struct SearchSpace {
    // The best guess comes first; default_config() leads.
    std::vector<KernelConfig> candidates;
    std::vector<RejectedConfig> rejections;
    std::shared_ptr<const std::set<std::string>> reasons;
};

SearchSpace search_space(const GemmProblem& problem, const DeviceInfo& device, Effort effort);

}  // namespace tmm
