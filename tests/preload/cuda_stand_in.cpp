// A CUDA driver for tests, as far as libtmm_cublas.so asks it itself: one GPU with its primary context, and streams whose address says what
// they are doing. It can launch nothing, so that tmm refuses to open the device.
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

const auto kPrimary = reinterpret_cast<CUcontext>(0x1000);

// Any pointer that is not null.
template <class Pointer>
Pointer some() {
    return reinterpret_cast<Pointer>(0x2000);
}

}  // namespace

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))
#undef cuDeviceTotalMem
#undef cuDevicePrimaryCtxRelease
#undef cuMemAlloc
#undef cuMemFree
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuStreamGetCaptureInfo

TMM_EXPORT CUresult cuDeviceGetCount(int* count) {
    *count = 1;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
    *bytes = std::size_t{1} << 30;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    *context = kPrimary;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = kPrimary;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
    *device = 0;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) {
    return CUDA_SUCCESS;
}
// 0x100: executing; 0x200: capturing; 0x300: its capture is void; all others: an error.
TMM_EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                              const CUgraphNode**, std::size_t*) {
    const auto address = reinterpret_cast<std::uintptr_t>(stream);
    *status = address == 0x100   ? CU_STREAM_CAPTURE_STATUS_NONE
              : address == 0x200 ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                 : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    *id = 1;
    *graph = some<CUgraph>();
    return address <= 0x300 ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}
// The driver gives no number of a captured stream, and voids the capture.
TMM_EXPORT CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
    const auto address = reinterpret_cast<std::uintptr_t>(stream);
    if (address != 0x100) std::abort();
    *id = 1;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr*, std::size_t) {
    return CUDA_ERROR_OUT_OF_MEMORY;
}
TMM_EXPORT CUresult cuMemFree_v2(CUdeviceptr) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuEventCreate(CUevent* event, unsigned) {
    *event = some<CUevent>();
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuEventDestroy_v2(CUevent) {
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuEventRecord(CUevent, CUstream stream) {
    // The driver would record it into the graph, or void the capture.
    if (reinterpret_cast<std::uintptr_t>(stream) != 0x100) std::abort();
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuEventQuery(CUevent) {
    return CUDA_SUCCESS;
}
// Only who records waits.
TMM_EXPORT CUresult cuEventSynchronize(CUevent) {
    const char* const mode = std::getenv("TMM_MODE");
    if (!mode || std::strcmp(mode, "record") != 0) std::abort();
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
    *milliseconds = 250;
    return CUDA_SUCCESS;
}
TMM_EXPORT CUresult cuUserObjectCreate(CUuserObject*, void*, CUhostFn, unsigned, unsigned) {
    return CUDA_ERROR_NOT_SUPPORTED;
}
TMM_EXPORT CUresult cuGraphRetainUserObject(CUgraph, CUuserObject, unsigned, unsigned) {
    return CUDA_ERROR_NOT_SUPPORTED;
}
