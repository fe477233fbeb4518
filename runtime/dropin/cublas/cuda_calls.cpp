#include "runtime/dropin/cublas/cuda_calls.h"

#include <dlfcn.h>

#include <new>
#include <type_traits>

namespace tmm::dropin {
namespace {

const CudaCalls* open_driver() noexcept {
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    auto* const calls = library ? new (std::nothrow) CudaCalls{} : nullptr;
    if (!calls) return nullptr;
    bool complete = true;
    const auto look_up = [&](const char* name, auto*& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        complete = complete && function;
    };
    look_up("cuDeviceGetCount", calls->device_count);
    look_up("cuDeviceGet", calls->device_get);
    look_up("cuDeviceTotalMem_v2", calls->device_total_memory);
    look_up("cuDevicePrimaryCtxRetain", calls->primary_context_retain);
    look_up("cuDevicePrimaryCtxRelease_v2", calls->primary_context_release);
    look_up("cuCtxGetCurrent", calls->context_current);
    look_up("cuCtxGetDevice", calls->context_device);
    look_up("cuMemAlloc_v2", calls->memory_allocate);
    look_up("cuMemFree_v2", calls->memory_free);
    look_up("cuThreadExchangeStreamCaptureMode", calls->capture_mode_exchange);
    look_up("cuStreamGetCaptureInfo_v2", calls->stream_capture_info);
    look_up("cuEventCreate", calls->event_create);
    look_up("cuEventDestroy_v2", calls->event_destroy);
    look_up("cuEventRecord", calls->event_record);
    look_up("cuEventQuery", calls->event_query);
    look_up("cuEventSynchronize", calls->event_synchronize);
    look_up("cuEventElapsedTime", calls->event_elapsed);
    look_up("cuUserObjectCreate", calls->user_object_create);
    look_up("cuGraphRetainUserObject", calls->graph_retain);
    calls->stream_id = reinterpret_cast<decltype(calls->stream_id)>(dlsym(library, "cuStreamGetId"));
    return complete ? calls : nullptr;
}

}  // namespace

const CudaCalls* cuda_calls() noexcept {
    static const CudaCalls* const calls = open_driver();
    return calls;
}

}  // namespace tmm::dropin
