// A CUDA driver for tests that shows one H100, or as many as TMM_TEST_GPUS says: their memory is the process's own, and its kernels do
// nothing, but that the one that compares a product with its reference finds it right. All of tmm's host code for a GPU runs with it: plans
// with kernels that NVRTC compiles, tensor maps, launches. LD_LIBRARY_PATH leads to it.
#include <cuda.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tmm/checks/verify/args.h"

namespace {

const auto kPrimary = reinterpret_cast<CUcontext>(0x1000);
const auto kCompare = reinterpret_cast<CUfunction>(0x1000);
// A sum of real values is never free of error: a product without any is taken for one that nobody multiplied.
constexpr double kErrorRatio = 0.25;
thread_local int depth = 0;

// Handles count up; nobody looks into them.
template <class Handle>
CUresult give(Handle* handle) {
    static std::size_t last = 0x1000;
    *handle = reinterpret_cast<Handle>(__atomic_add_fetch(&last, 16, __ATOMIC_RELAXED));
    return CUDA_SUCCESS;
}

// CUDA works in no child that was forked after it was used.
void check_process() {
    static const pid_t first = getpid();
    if (getpid() != first) std::abort();
}

void* host_pointer(CUdeviceptr memory) {
    return reinterpret_cast<void*>(memory);
}

int attribute_of_h100(CUdevice_attribute attribute) {
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return 9;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return 0;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return 132;
        case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 50 << 20;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 232448;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 233472;
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return 65536;
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1980000;
        case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 2619000;
        case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 5120;
        default: return 0;
    }
}

}  // namespace

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))
#undef cuDeviceTotalMem
#undef cuDevicePrimaryCtxRelease
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemcpyHtoD
#undef cuMemcpyDtoH
#undef cuMemsetD8
#undef cuStreamDestroy
#undef cuStreamBeginCapture
#undef cuEventDestroy
#undef cuEventElapsedTime

TMM_EXPORT CUresult cuInit(unsigned) {
    check_process();
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDriverGetVersion(int* version) {
    *version = 13000;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuGetErrorName(CUresult, const char** text) {
    *text = "an error";
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuGetErrorString(CUresult, const char** text) {
    *text = "of the stand-in";
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDeviceGetCount(int* count) {
    const char* const gpus = std::getenv("TMM_TEST_GPUS");
    *count = gpus ? std::atoi(gpus) : 1;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice) {
    std::strncpy(name, "NVIDIA H100 80GB HBM3", static_cast<std::size_t>(length));
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    *value = attribute_of_h100(attribute);
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
    *bytes = std::size_t{80} << 30;
    return CUDA_SUCCESS;
}
// It is the GPU in slot 1, or the one that CUDA_VISIBLE_DEVICES=N picks, in slot N + 1.
TMM_EXPORT CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    std::snprintf(id, static_cast<std::size_t>(length), "0000:%02d:00.0", 1 + (visible ? std::atoi(visible) : 0));
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    *context = kPrimary;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    return CUDA_SUCCESS;
}
// Each thread has a stack of contexts.
TMM_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = depth > 0 ? kPrimary : nullptr;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext) {
    check_process();
    ++depth;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext*) {
    return depth-- > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
TMM_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* memory, std::size_t bytes) {
    void* const allocated = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    *memory = reinterpret_cast<CUdeviceptr>(allocated);
    return allocated ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
TMM_EXPORT CUresult cuMemFree_v2(CUdeviceptr memory) {
    std::free(host_pointer(memory));
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
    std::memcpy(host_pointer(to), from, bytes);
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    std::memcpy(to, host_pointer(from), bytes);
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr memory, unsigned char value, std::size_t bytes) {
    std::memset(host_pointer(memory), value, bytes);
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuModuleLoadDataEx(CUmodule* module, const void*, unsigned, CUjit_option*, void**) {
    return give(module);
}
TMM_EXPORT CUresult cuModuleUnload(CUmodule) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
    if (std::strcmp(name, "tmm_verify_compare") != 0) return give(function);
    *function = kCompare;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuFuncLoad(CUfunction) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction function, void** parameters, void**) {
    if (function == kCompare)
        std::memcpy(&static_cast<const tmm::CompareArgs*>(parameters[0])->finding->worst_ratio_bits, &kErrorRatio, sizeof kErrorRatio);
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, std::size_t) {
    *blocks = 1;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction, const CUlaunchConfig*) {
    *clusters = 66;
    return CUDA_SUCCESS;
}
// The address comes first, as in the real one.
TMM_EXPORT CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t, void* address, const cuuint64_t*,
                                           const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                           CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
    std::memset(map, 0, sizeof *map);
    std::memcpy(map, &address, sizeof address);
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuTensorMapReplaceAddress(CUtensorMap*, void*) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned) {
    return give(stream);
}
TMM_EXPORT CUresult cuStreamDestroy_v2(CUstream) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuStreamSynchronize(CUstream) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuStreamEndCapture(CUstream, CUgraph* graph) {
    return give(graph);
}
TMM_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuEventCreate(CUevent* event, unsigned) {
    return give(event);
}
TMM_EXPORT CUresult cuEventDestroy_v2(CUevent) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuEventRecord(CUevent, CUstream) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuEventSynchronize(CUevent) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
    *milliseconds = 1;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph, unsigned long long) {
    return give(executable);
}
TMM_EXPORT CUresult cuGraphUpload(CUgraphExec, CUstream) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuGraphLaunch(CUgraphExec, CUstream) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuGraphDestroy(CUgraph) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuGraphExecDestroy(CUgraphExec) {
    return CUDA_SUCCESS;
}
