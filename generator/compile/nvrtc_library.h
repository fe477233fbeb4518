// libnvrtc, opened at run time: tmm links nothing of the CUDA toolkit.
#pragma once

#include <nvrtc.h>

#include <string>
#include <vector>

namespace tmm {

struct NvrtcLibrary {
    decltype(&::nvrtcGetErrorString) get_error_string = nullptr;
    decltype(&::nvrtcVersion) version = nullptr;
    decltype(&::nvrtcGetNumSupportedArchs) get_num_supported_archs = nullptr;
    decltype(&::nvrtcGetSupportedArchs) get_supported_archs = nullptr;
    decltype(&::nvrtcCreateProgram) create_program = nullptr;
    decltype(&::nvrtcDestroyProgram) destroy_program = nullptr;
    decltype(&::nvrtcCompileProgram) compile_program = nullptr;
    decltype(&::nvrtcGetPTXSize) get_ptx_size = nullptr;
    decltype(&::nvrtcGetPTX) get_ptx = nullptr;
    decltype(&::nvrtcGetCUBINSize) get_cubin_size = nullptr;
    decltype(&::nvrtcGetCUBIN) get_cubin = nullptr;
    decltype(&::nvrtcGetProgramLogSize) get_program_log_size = nullptr;
    decltype(&::nvrtcGetProgramLog) get_program_log = nullptr;

    // What was opened, for messages.
    std::string path;
    int major = 0;
    int minor = 0;
    // Compute capabilities it compiles for, as major * 10 + minor, ascending.
    std::vector<int> architectures;
};

// Opens the libnvrtc in that directory, or that file; it stays open. Throws Error (no_compiler).
NvrtcLibrary open_nvrtc_library(const std::string& path);

// The library is opened once for the process and never closed. Throws Error (no_compiler) that says where it was searched for.
const NvrtcLibrary& nvrtc_library();

// What NVRTC compiles for a GPU: machine code where it knows one that runs there, else PTX for the driver to finish.

struct NvrtcTarget {
    // "sm_90a" gives machine code, "compute_120" PTX.
    std::string architecture;
    bool ptx = false;
};

// architectures: those that an NVRTC knows, as major * 10 + minor, ascending. The result's architecture is empty where the GPU is older
// than all of them. Source: CUDA C++ Programming Guide, "Binary Compatibility" and "Just-in-Time Compilation".
NvrtcTarget nvrtc_target(const std::vector<int>& architectures, int compute_capability);

}  // namespace tmm
