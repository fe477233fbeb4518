// The limits come from the CUDA programming guide's table; the sizes are those of one widespread GPU of each kind.
#include "generator/machine/assumed_device.h"

#include <fmt/core.h>

#include <charconv>

#include "base/error.h"

namespace tmm {
namespace {

struct KnownDevice {
    int compute_capability;
    const char* name;
    int sm_count;
    int memory_gib;
    int l2_mib;
    int shared_kib_per_block;
    int shared_kib_per_sm;
    int max_threads_per_sm;
};

constexpr KnownDevice kDevices[] = {
    {75, "Tesla T4", 40, 16, 4, 64, 64, 1024},
    {80, "NVIDIA A100-SXM4-80GB", 108, 80, 40, 163, 164, 2048},
    {86, "NVIDIA GeForce RTX 3090", 82, 24, 6, 99, 100, 1536},
    {87, "Orin", 16, 64, 4, 163, 164, 1536},
    {89, "NVIDIA GeForce RTX 4090", 128, 24, 72, 99, 100, 1536},
    {90, "NVIDIA H200", 132, 141, 50, 227, 228, 2048},
    {100, "NVIDIA B200", 148, 180, 126, 227, 228, 2048},
    {103, "NVIDIA B300", 148, 268, 126, 227, 228, 2048},
    {110, "NVIDIA Thor", 20, 128, 32, 227, 228, 1536},
    {120, "NVIDIA GeForce RTX 5090", 170, 32, 96, 99, 100, 1536},
    {121, "NVIDIA GB10", 48, 128, 24, 99, 100, 1536},
};
constexpr int kRegistersPerSm = 65536;

// The result is 0 where the text is none of the spellings.
int parse_compute_capability(std::string_view text) {
    if (text.starts_with("sm_") || text.starts_with("SM_")) text.remove_prefix(3);
    if (text.ends_with('a')) text.remove_suffix(1);
    std::string digits(text);
    if (const auto dot = digits.find('.'); dot != std::string::npos && dot + 2 == digits.size()) digits.erase(dot, 1);
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? value : 0;
}

}  // namespace

DeviceInfo assumed_device(std::string_view architecture) {
    const int compute_capability = parse_compute_capability(architecture);
    std::string known;
    for (const KnownDevice& device : kDevices) {
        if (device.compute_capability == compute_capability) {
            DeviceInfo info;
            info.name = device.name;
            info.compute_capability_major = compute_capability / 10;
            info.compute_capability_minor = compute_capability % 10;
            info.sm_count = device.sm_count;
            info.memory_bytes = static_cast<std::int64_t>(device.memory_gib) << 30;
            info.l2_bytes = static_cast<std::int64_t>(device.l2_mib) << 20;
            info.shared_bytes_per_block = static_cast<std::int64_t>(device.shared_kib_per_block) << 10;
            info.shared_bytes_per_sm = static_cast<std::int64_t>(device.shared_kib_per_sm) << 10;
            info.registers_per_sm = kRegistersPerSm;
            info.max_threads_per_sm = device.max_threads_per_sm;
            info.profile = profile_of(info);
            return info;
        }
        known += fmt::format("{}{}", known.empty() ? "" : ", ", device.compute_capability);
    }
    throw Error(ExitStatus::usage, fmt::format("'{}' is no architecture that tmm knows", architecture), "--gpu-arch", "one of " + known);
}

std::optional<DeviceInfo> remembered_device(const DeviceInfo& kept) {
    if (kept.emulated) return host_device_info();
    try {
        DeviceInfo info = assumed_device(fmt::format("{}", kept.compute_capability()));
        info.name = kept.name;
        info.sm_count = kept.sm_count;
        if (kept.memory_bytes > 0) info.memory_bytes = kept.memory_bytes;
        info.profile = profile_of(info);
        return info;
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace tmm
