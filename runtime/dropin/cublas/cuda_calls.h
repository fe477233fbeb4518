// The few functions of the CUDA driver that stand-ins for GPU libraries need, opened at run time.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace tmm::dropin {

struct CudaCalls {
    CUresult (*device_count)(int* count);
    CUresult (*device_get)(CUdevice* device, int ordinal);
    CUresult (*device_total_memory)(std::size_t* bytes, CUdevice device);
    CUresult (*primary_context_retain)(CUcontext* context, CUdevice device);
    CUresult (*primary_context_release)(CUdevice device);
    CUresult (*context_current)(CUcontext* context);
    CUresult (*context_device)(CUdevice* device);
    CUresult (*memory_allocate)(CUdeviceptr* memory, std::size_t bytes);
    CUresult (*memory_free)(CUdeviceptr memory);
    CUresult (*capture_mode_exchange)(CUstreamCaptureMode* mode);
    CUresult (*stream_capture_info)(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                    const CUgraphNode** dependencies, std::size_t* count);
    // The function exists since 12.0; it is null in an older driver.
    CUresult (*stream_id)(CUstream stream, unsigned long long* id);
    CUresult (*event_create)(CUevent* event, unsigned flags);
    CUresult (*event_destroy)(CUevent event);
    CUresult (*event_record)(CUevent event, CUstream stream);
    CUresult (*event_query)(CUevent event);
    CUresult (*event_synchronize)(CUevent event);
    CUresult (*event_elapsed)(float* milliseconds, CUevent from, CUevent to);
    CUresult (*user_object_create)(CUuserObject* object, void* value, CUhostFn destroy, unsigned references, unsigned flags);
    CUresult (*graph_retain)(CUgraph graph, CUuserObject object, unsigned count, unsigned flags);
};

// The driver that the program has loaded, or null where there is none that has all of them. Thread-safe; never throws.
const CudaCalls* cuda_calls() noexcept;

// The driver refuses to allocate, free and wait while any stream of the process is being captured, and voids the capture. None of it
// touches that stream, so in this scope it is allowed.
class DuringCapture {
public:
    explicit DuringCapture(const CudaCalls& cuda) noexcept : cuda_(cuda) { cuda_.capture_mode_exchange(&mode_); }
    DuringCapture(const DuringCapture&) = delete;
    DuringCapture& operator=(const DuringCapture&) = delete;
    ~DuringCapture() { cuda_.capture_mode_exchange(&mode_); }

private:
    const CudaCalls& cuda_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace tmm::dropin
