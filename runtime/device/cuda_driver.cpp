#include "runtime/device/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.h"

namespace tmm {

namespace {

constexpr const char* kRemedy = "use --gpu host for the emulated device (in a program TMM_DEVICE_HOST)";

template <typename Function>
void look_up(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (!function) {
        throw Error(ExitStatus::no_device, fmt::format("the CUDA driver is too old: libcuda.so.1 has no {}", name), {},
                    fmt::format("install a driver for CUDA 11.8 or newer, or {}", kRemedy));
    }
}

CudaDriver open_driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* text = dlerror();
        const std::string reason = text ? text : "";
        // The loader's own words matter only where the file is there and something else is wrong with it.
        const bool missing = reason.find("No such file") != std::string::npos;
        throw Error(ExitStatus::no_device,
                    missing ? "no CUDA driver: libcuda.so.1 was not found" : fmt::format("no CUDA driver: libcuda.so.1: {}", reason), {},
                    fmt::format("install the NVIDIA driver, or {}", kRemedy));
    }
    CudaDriver d{};
    look_up(library, "cuInit", d.init);
    look_up(library, "cuDriverGetVersion", d.driver_version);
    look_up(library, "cuGetErrorName", d.error_name);
    look_up(library, "cuGetErrorString", d.error_string);
    look_up(library, "cuDeviceGetCount", d.device_count);
    look_up(library, "cuDeviceGet", d.device_get);
    look_up(library, "cuDeviceGetName", d.device_name);
    look_up(library, "cuDeviceGetAttribute", d.device_attribute);
    look_up(library, "cuDeviceTotalMem_v2", d.device_total_memory);
    look_up(library, "cuDeviceGetPCIBusId", d.device_pci_bus_id);
    look_up(library, "cuDevicePrimaryCtxRetain", d.primary_context_retain);
    look_up(library, "cuDevicePrimaryCtxRelease_v2", d.primary_context_release);
    look_up(library, "cuCtxGetCurrent", d.context_current);
    look_up(library, "cuCtxPushCurrent_v2", d.context_push);
    look_up(library, "cuCtxPopCurrent_v2", d.context_pop);
    look_up(library, "cuMemAlloc_v2", d.memory_allocate);
    look_up(library, "cuMemFree_v2", d.memory_free);
    look_up(library, "cuMemcpyHtoD_v2", d.copy_to_device);
    look_up(library, "cuMemcpyDtoH_v2", d.copy_to_host);
    look_up(library, "cuMemsetD8_v2", d.fill_bytes);
    look_up(library, "cuModuleLoadDataEx", d.module_load);
    look_up(library, "cuModuleUnload", d.module_unload);
    look_up(library, "cuModuleGetFunction", d.module_function);
    look_up(library, "cuFuncSetAttribute", d.function_set_attribute);
    d.function_load = reinterpret_cast<CUresult (*)(CUfunction)>(dlsym(library, "cuFuncLoad"));
    look_up(library, "cuLaunchKernelEx", d.launch);
    look_up(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", d.resident_blocks);
    d.resident_clusters = reinterpret_cast<decltype(d.resident_clusters)>(dlsym(library, "cuOccupancyMaxActiveClusters"));
    d.tensor_map_encode_tiled = reinterpret_cast<decltype(d.tensor_map_encode_tiled)>(dlsym(library, "cuTensorMapEncodeTiled"));
    d.tensor_map_replace_address = reinterpret_cast<decltype(d.tensor_map_replace_address)>(dlsym(library, "cuTensorMapReplaceAddress"));
    look_up(library, "cuStreamCreate", d.stream_create);
    look_up(library, "cuStreamDestroy_v2", d.stream_destroy);
    look_up(library, "cuStreamSynchronize", d.stream_synchronize);
    look_up(library, "cuStreamBeginCapture_v2", d.capture_begin);
    look_up(library, "cuStreamEndCapture", d.capture_end);
    d.is_capturing = reinterpret_cast<decltype(d.is_capturing)>(dlsym(library, "cuStreamIsCapturing"));
    look_up(library, "cuThreadExchangeStreamCaptureMode", d.capture_mode_exchange);
    look_up(library, "cuEventCreate", d.event_create);
    look_up(library, "cuEventDestroy_v2", d.event_destroy);
    look_up(library, "cuEventRecord", d.event_record);
    look_up(library, "cuEventSynchronize", d.event_synchronize);
    look_up(library, "cuEventElapsedTime", d.event_elapsed);
    look_up(library, "cuGraphInstantiateWithFlags", d.graph_instantiate);
    look_up(library, "cuGraphUpload", d.graph_upload);
    look_up(library, "cuGraphLaunch", d.graph_launch);
    look_up(library, "cuGraphDestroy", d.graph_destroy);
    look_up(library, "cuGraphExecDestroy", d.graph_executable_destroy);

    const CUresult result = d.init(0);
    if (result != CUDA_SUCCESS)
        throw Error(ExitStatus::no_device, fmt::format("the CUDA driver does not start: cuInit: {}", describe(d, result)), {}, kRemedy);
    return d;
}

}  // namespace

const CudaDriver& cuda_driver() {
    // A throwing initialiser is run again by the next call, so that each caller gets the reason.
    static CudaDriver driver = open_driver();
    return driver;
}

int installed_driver_version() noexcept {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    const auto ask = reinterpret_cast<CUresult (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
    int version = 0;
    return ask && ask(&version) == CUDA_SUCCESS ? version : 0;
}

std::string describe(const CudaDriver& driver, CUresult error) {
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver.error_name(error, &name) != CUDA_SUCCESS || !name) return fmt::format("CUDA error {}", static_cast<int>(error));
    if (driver.error_string(error, &text) != CUDA_SUCCESS || !text) return name;
    return fmt::format("{} ({})", name, text);
}

}  // namespace tmm
