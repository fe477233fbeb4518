// libcuda, opened at run time: the driver functions that tmm calls, so that nothing of CUDA is linked and every tool starts
// on a machine without a driver.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace tmm {

// Functions are looked up by the names that libcuda exports ("cuMemAlloc_v2"): an exported name keeps its signature for good,
// while the macros of cuda.h name whatever is newest in that header, which an older driver may not have.
struct CudaDriver {
    CUresult (*init)(unsigned flags);
    CUresult (*driver_version)(int* version);
    CUresult (*error_name)(CUresult error, const char** text);
    CUresult (*error_string)(CUresult error, const char** text);

    CUresult (*device_count)(int* count);
    CUresult (*device_get)(CUdevice* device, int ordinal);
    CUresult (*device_name)(char* name, int length, CUdevice device);
    CUresult (*device_attribute)(int* value, CUdevice_attribute attribute, CUdevice device);
    CUresult (*device_total_memory)(std::size_t* bytes, CUdevice device);
    CUresult (*device_pci_bus_id)(char* id, int length, CUdevice device);

    CUresult (*primary_context_retain)(CUcontext* context, CUdevice device);
    CUresult (*primary_context_release)(CUdevice device);
    CUresult (*context_current)(CUcontext* context);
    CUresult (*context_push)(CUcontext context);
    CUresult (*context_pop)(CUcontext* context);

    CUresult (*memory_allocate)(CUdeviceptr* memory, std::size_t bytes);
    CUresult (*memory_free)(CUdeviceptr memory);
    CUresult (*copy_to_device)(CUdeviceptr to, const void* from, std::size_t bytes);
    CUresult (*copy_to_host)(void* to, CUdeviceptr from, std::size_t bytes);
    CUresult (*fill_bytes)(CUdeviceptr memory, unsigned char value, std::size_t bytes);

    CUresult (*module_load)(CUmodule* module, const void* image, unsigned options, CUjit_option* names, void** values);
    CUresult (*module_unload)(CUmodule module);
    CUresult (*module_function)(CUfunction* function, CUmodule module, const char* name);
    CUresult (*function_set_attribute)(CUfunction function, CUfunction_attribute attribute, int value);
    // The function exists since 12.4; it is null in an older driver, which loads a function when it is looked up.
    CUresult (*function_load)(CUfunction function);
    CUresult (*launch)(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra);
    CUresult (*resident_blocks)(int* blocks, CUfunction function, int threads, std::size_t shared_bytes);
    // The function is null where the driver is older than clusters.
    CUresult (*resident_clusters)(int* clusters, CUfunction function, const CUlaunchConfig* config);

    // The function exists since 12.0; it is null in an older driver, which knows no GPU with TMA.
    CUresult (*tensor_map_encode_tiled)(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* sizes,
                                        const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* element_strides,
                                        CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill);
    // The function came with the one above.
    CUresult (*tensor_map_replace_address)(CUtensorMap* map, void* address);

    CUresult (*stream_create)(CUstream* stream, unsigned flags);
    CUresult (*stream_destroy)(CUstream stream);
    CUresult (*stream_synchronize)(CUstream stream);
    CUresult (*capture_begin)(CUstream stream, CUstreamCaptureMode mode);
    CUresult (*capture_end)(CUstream stream, CUgraph* graph);
    // The function is null where the driver lacks it.
    CUresult (*is_capturing)(CUstream stream, CUstreamCaptureStatus* status);
    // Sets the calling thread's mode and gives the one before.
    CUresult (*capture_mode_exchange)(CUstreamCaptureMode* mode);
    CUresult (*event_create)(CUevent* event, unsigned flags);
    CUresult (*event_destroy)(CUevent event);
    CUresult (*event_record)(CUevent event, CUstream stream);
    CUresult (*event_synchronize)(CUevent event);
    CUresult (*event_elapsed)(float* milliseconds, CUevent from, CUevent to);
    CUresult (*graph_instantiate)(CUgraphExec* executable, CUgraph graph, unsigned long long flags);
    CUresult (*graph_upload)(CUgraphExec executable, CUstream stream);
    CUresult (*graph_launch)(CUgraphExec executable, CUstream stream);
    CUresult (*graph_destroy)(CUgraph graph);
    CUresult (*graph_executable_destroy)(CUgraphExec executable);
};

// The driver, opened and initialised at the first call and never closed. Thread-safe. Throws Error (no_device) that names what
// is missing: the library, a function that the driver is too old for, or a usable GPU.
const CudaDriver& cuda_driver();

// The version of the installed driver as cuDriverGetVersion gives it, whether it shows a GPU or not; 0 where there is none. Never throws.
int installed_driver_version() noexcept;

// The error reads "CUDA_ERROR_INVALID_VALUE (invalid argument)".
std::string describe(const CudaDriver& driver, CUresult error);

}  // namespace tmm
