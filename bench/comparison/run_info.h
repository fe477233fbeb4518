// The circumstances under which figures were taken. They stand at the head of every file of results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/machine/device_info.h"
#include "runtime/device/device.h"
#include "tuner/measure/ceilings.h"

namespace tmm::bench {

struct RunInfo {
    // The commit, or what --label says.
    std::string label;
    std::string date;
    DeviceInfo device;
    DeviceSharing sharing;
    std::string kernel_driver;
    int nvrtc_version = 0;
    // Number of pairs; 0 where nothing was timed.
    int pairs = 0;
    // Bytes of workspace that tmm's plans were held to, where they were.
    std::optional<std::int64_t> max_workspace;
    // The operands that are prepared, as --prepared says.
    std::string prepared;
    // The peers as --vs names them, and their versions.
    std::vector<std::string> peers;
    std::vector<std::string> peer_versions;
    // The ceilings, with --roofline.
    std::optional<DeviceCeilings> ceilings;
};

// A line of a table's head that says what tmm's plans were held to; empty where they were not.
std::string bound_line(const RunInfo& info);
// Everything that a reader of the figures must know, in order.
std::vector<std::pair<std::string, std::string>> circumstances(const RunInfo& info);

}  // namespace tmm::bench
