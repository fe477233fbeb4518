// What a config means for a problem on a device, or why it can't serve it.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

struct Rejection {
    // The rule that the config breaks, in words.
    std::string reason;
};

// Any numbers may stand in the config.
std::variant<Schedule, Rejection> resolve(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device,
                                          EpiloguePlace place = EpiloguePlace::kernel);

// The reason of the Rejection; nothing where the config serves the problem.
std::optional<std::string> why_invalid(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// The schedule of a config whose kernel can be made. Whether it serves the problem is asked apart, since a search of the likeliest config
// asks it of few.
Schedule schedule_of(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device,
                     EpiloguePlace place = EpiloguePlace::kernel);
std::optional<std::string> why_invalid(const Schedule& schedule, const DeviceInfo& device);

// Is the problem too large for what other families' plans count with? Their configs are not valid for it.
bool is_left_to_naive(const GemmProblem& problem);

// The longest chain of additions when the parts of K are added up that are multiplied apart; 0 where there is one part.
std::int64_t longest_sum_of_parts(const Schedule& schedule);

// Blocks of the kernel that adds up these parts; 0 where there is none.
std::int64_t blocks_that_add_parts(const Schedule& schedule);

// The longest chain of roundings that an element of C goes through: c of the design's bound |error| <= (c + 2) u (...).
std::int64_t longest_rounding_chain(const Schedule& schedule);

}  // namespace tmm
