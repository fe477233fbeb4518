// What only the management library tells: clocks, throttling, the power limit, who else uses the GPU. It is opened at run time and may be
// absent.
#pragma once

#include <memory>
#include <string>

namespace tmm {

class Nvml {
public:
    // Opens the GPU at that PCI bus address; the result is null where the library or the GPU is not to be had. Never throws.
    static std::unique_ptr<Nvml> open(const std::string& pci_bus_id) noexcept;

    // Each gives 0 where the GPU does not say.
    int sm_clock_mhz() const noexcept;
    int power_limit_watts() const noexcept;
    // Power or heat holds the clock down.
    bool throttled() const noexcept;
    // The GPU is divided into slices (MIG).
    bool is_divided() const noexcept;
    // Processes with a context on the GPU, this one among them where it has one.
    int processes() const noexcept;

private:
    Nvml() = default;
    void* device_ = nullptr;
    int (*clock_)(void* device, int kind, unsigned* mhz) = nullptr;
    int (*power_limit_)(void* device, unsigned* milliwatts) = nullptr;
    int (*throttle_reasons_)(void* device, unsigned long long* reasons) = nullptr;
    int (*slice_mode_)(void* device, unsigned* current, unsigned* pending) = nullptr;
    int (*processes_)(void* device, unsigned* count, void* infos) = nullptr;
};

}  // namespace tmm
