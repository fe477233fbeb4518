// Which compiler serves which device.
#include "generator/compile/compiler.h"

namespace tmm {

std::unique_ptr<Compiler> make_compiler(const DeviceInfo& device) {
    return device.emulated ? make_host_compiler() : make_nvrtc_compiler(device.compute_capability());
}

}  // namespace tmm
