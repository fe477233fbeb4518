// The circumstances as text; see run_info.h.
#include "bench/comparison/run_info.h"

#include <fmt/format.h>

#include "base/text/byte_count.h"

namespace tmm::bench {

std::string bound_line(const RunInfo& info) {
    if (!info.max_workspace) return {};
    return fmt::format("# tmm's plans need at most {} of workspace (--max-workspace).\n", exact_bytes_text(*info.max_workspace));
}

std::vector<std::pair<std::string, std::string>> circumstances(const RunInfo& info) {
    const DeviceInfo& device = info.device;
    std::vector<std::pair<std::string, std::string>> rows = {{"commit", info.label}, {"date", info.date}, {"gpu", device.name}};
    if (info.pairs > 0) rows.emplace_back("pairs", std::to_string(info.pairs));
    if (info.max_workspace) rows.emplace_back("max_workspace_bytes", std::to_string(*info.max_workspace));
    if (!info.prepared.empty()) rows.emplace_back("prepared", info.prepared);
    if (!device.emulated) {
        rows.emplace_back("compute_capability", fmt::format("{}.{}", device.compute_capability_major, device.compute_capability_minor));
        rows.emplace_back("sm_count", std::to_string(device.sm_count));
        rows.emplace_back("power_limit_w", std::to_string(device.power_limit));
        if (info.sharing.is_slice) rows.emplace_back("mig", "1");
        if (info.sharing.other_processes > 0) rows.emplace_back("other_processes", std::to_string(info.sharing.other_processes));
        rows.emplace_back("driver", info.kernel_driver.empty() ? "unknown" : info.kernel_driver);
        rows.emplace_back("cuda_driver_api", fmt::format("{}.{}", device.driver_version / 1000, device.driver_version % 1000 / 10));
        rows.emplace_back("nvrtc", fmt::format("{}.{}", info.nvrtc_version / 1000, info.nvrtc_version % 1000 / 10));
    }
    for (std::size_t i = 0; i < info.peers.size(); ++i) rows.emplace_back(info.peers[i], info.peer_versions[i]);
    if (info.ceilings) {
        const DeviceCeilings& ceilings = *info.ceilings;
        rows.emplace_back("read_gb_s", fmt::format("{:.6g}", ceilings.read_bytes_per_us * 1e-3));
        rows.emplace_back("read_bytes", std::to_string(ceilings.read_bytes));
        rows.emplace_back("read_launch", ceilings.read_launch);
        for (const auto& [arithmetic, rate] : ceilings.multiplying) {
            rows.emplace_back(fmt::format("{}_tflops", name_of(arithmetic)), fmt::format("{:.6g}", rate.flop_per_us * 1e-6));
            rows.emplace_back(fmt::format("{}_launch", name_of(arithmetic)), fmt::format("{}, {}", rate.instruction, rate.launch));
            if (rate.clock_mhz > 0) rows.emplace_back(fmt::format("{}_clock_mhz", name_of(arithmetic)), std::to_string(rate.clock_mhz));
        }
        rows.emplace_back("launch_gap_us", fmt::format("{:.6g}", ceilings.launch_gap_us));
    }
    return rows;
}

}  // namespace tmm::bench
