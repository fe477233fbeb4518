#include "tuner/run/report_text.h"

#include <fmt/core.h>

#include "base/text/printable.h"
#include "base/text/text_width.h"
#include "tuner/search/run_report.h"

namespace tmm {

std::string device_text(const DeviceInfo& device) {
    if (device.emulated) return "host (emulated on the CPU; its times say nothing about a GPU)";
    return fmt::format("{} (sm_{}, {} SMs)", device.name, device.compute_capability(), device.sm_count);
}

std::string count_text(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Json rejections_json(const std::map<std::string, int>& rejections) {
    Json reasons = Json::array();
    for (const auto& [reason, count] : by_count(rejections)) reasons.push_back({{"reason", reason}, {"count", count}});
    return reasons;
}

std::string prose(const std::string& text, const Screen& screen, std::size_t indent) {
    return hanging(printable(text), screen.wide ? 0 : screen.columns, indent) + "\n";
}

}  // namespace tmm
