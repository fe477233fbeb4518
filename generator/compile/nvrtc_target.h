// What NVRTC compiles for a GPU: machine code where it knows one that runs there, else PTX for the driver to finish.
#pragma once

#include <string>
#include <vector>

namespace tmm {

struct NvrtcTarget {
    // "sm_90a" gives machine code, "compute_120" PTX.
    std::string architecture;
    bool ptx = false;
};

// architectures: those that an NVRTC knows, as major * 10 + minor, ascending. The result's architecture is empty where the GPU is older
// than all of them. Source: CUDA C++ Programming Guide, "Binary Compatibility" and "Just-in-Time Compilation".
NvrtcTarget nvrtc_target(const std::vector<int>& architectures, int compute_capability);

}  // namespace tmm
