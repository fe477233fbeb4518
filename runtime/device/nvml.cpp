#include "runtime/device/nvml.h"

#include <dlfcn.h>

#include <new>

namespace tmm {

namespace {

constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kSmClock = 1;
// The bits are software power cap, hardware slowdown, software and hardware thermal slowdown, and power brake.
constexpr unsigned long long kHeldDown = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

template <typename Function>
Function* symbol(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

// The library, opened and initialised once; null where it is absent.
void* nvml_library() noexcept {
    static void* const library = []() -> void* {
        void* opened = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!opened) return nullptr;
        const auto init = symbol<int()>(opened, "nvmlInit_v2");
        return init && init() == kSuccess ? opened : nullptr;
    }();
    return library;
}

}  // namespace

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id) noexcept {
    void* library = nvml_library();
    if (!library) return nullptr;
    const auto find = symbol<int(const char*, void**)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
    std::unique_ptr<Nvml> nvml(new (std::nothrow) Nvml);
    if (!find || !nvml || find(pci_bus_id.c_str(), &nvml->device_) != kSuccess) return nullptr;
    nvml->clock_ = symbol<int(void*, int, unsigned*)>(library, "nvmlDeviceGetClockInfo");
    nvml->power_limit_ = symbol<int(void*, unsigned*)>(library, "nvmlDeviceGetEnforcedPowerLimit");
    nvml->throttle_reasons_ = symbol<int(void*, unsigned long long*)>(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    nvml->slice_mode_ = symbol<int(void*, unsigned*, unsigned*)>(library, "nvmlDeviceGetMigMode");
    nvml->processes_ = symbol<int(void*, unsigned*, void*)>(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    return nvml;
}

int Nvml::sm_clock_mhz() const noexcept {
    unsigned mhz = 0;
    return clock_ && clock_(device_, kSmClock, &mhz) == kSuccess ? static_cast<int>(mhz) : 0;
}

int Nvml::power_limit_watts() const noexcept {
    unsigned milliwatts = 0;
    return power_limit_ && power_limit_(device_, &milliwatts) == kSuccess ? static_cast<int>(milliwatts / 1000) : 0;
}

bool Nvml::throttled() const noexcept {
    unsigned long long reasons = 0;
    return throttle_reasons_ && throttle_reasons_(device_, &reasons) == kSuccess && (reasons & kHeldDown) != 0;
}

bool Nvml::is_divided() const noexcept {
    unsigned current = 0, pending = 0;
    return slice_mode_ && slice_mode_(device_, &current, &pending) == kSuccess && current == 1;
}

int Nvml::processes() const noexcept {
    // Without room for their descriptions it gives their number alone.
    unsigned count = 0;
    const int result = processes_ ? processes_(device_, &count, nullptr) : kSuccess;
    return result == kSuccess || result == kInsufficientSize ? static_cast<int>(count) : 0;
}

}  // namespace tmm
