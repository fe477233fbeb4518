// On the emulated device kernels run one after the other.
#pragma once

namespace tmm::ptx {

inline void griddepcontrol_wait() {}
inline void griddepcontrol_launch_dependents() {}

}  // namespace tmm::ptx
