// What a user is told of a device whose times may not be its best.
#include <fmt/core.h>

#include "runtime/device/device.h"

namespace tmm {

std::string warning_of(const DeviceSharing& sharing) {
    if (sharing.is_slice) return "it is a slice of a GPU (MIG), whose memory and power others may use: times may vary with what they do";
    if (sharing.other_processes <= 0) return {};
    return fmt::format("{} other process{} the GPU: times may be theirs in part; for times that last, let the GPU do nothing else",
                       sharing.other_processes, sharing.other_processes == 1 ? " uses" : "es use");
}

std::string throttling_warning() {
    return "power or heat holds the GPU's clock down; times are those of the lower clock, and are marked as throttled";
}

}  // namespace tmm
