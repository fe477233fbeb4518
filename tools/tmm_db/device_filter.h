// Which devices a command is about: those that --gpu names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tmm {

// Whether the words of `name` stand in the device's name, whole and one after another, whatever the case of their letters: "h100 pcie"
// names an NVIDIA H100 PCIe, "H20" no NVIDIA H200.
bool names_device(std::string_view name, std::string_view device);

class DeviceFilter {
public:
    // All devices.
    DeviceFilter() = default;
    // The devices that `name` names; an empty one stands for all. Where it is the whole name of one of the known devices, it names that
    // alone, though others' names hold it. Throws Error (no_winner) that lists the known devices where it names none of them.
    DeviceFilter(std::string name, const std::vector<std::string>& known);

    bool takes(std::string_view device) const;
    bool takes_all() const { return name_.empty(); }
    // As it was given.
    const std::string& name() const { return name_; }

private:
    std::string name_;
    bool is_whole_ = false;
};

// "NVIDIA H100 PCIe, NVIDIA H200", each once, as a terminal may show them.
std::string listed_names(const std::vector<std::string>& devices);

}  // namespace tmm
