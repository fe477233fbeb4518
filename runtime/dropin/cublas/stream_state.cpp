#include "runtime/dropin/cublas/stream_state.h"

#include "runtime/dropin/cublas/cuda_calls.h"

namespace tmm::dropin {

StreamState state_of_stream(void* stream) noexcept {
    const CudaCalls* const cuda = cuda_calls();
    // One name for the streams of all threads, each of which has its own.
    const bool is_per_thread = stream == CU_STREAM_PER_THREAD;
    if (!cuda || is_per_thread) return {};
    const auto its_stream = static_cast<CUstream>(stream);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t capture = 0;
    CUgraph graph = nullptr;
    if (cuda->stream_capture_info(its_stream, &status, &capture, &graph, nullptr, nullptr) != CUDA_SUCCESS) return {};
    StreamState state{.id = reinterpret_cast<std::uintptr_t>(stream), .capture = capture, .graph = graph};
    // Asking for a captured stream's number would void the capture; within one its address is as good.
    unsigned long long id = 0;
    if (status == CU_STREAM_CAPTURE_STATUS_NONE && cuda->stream_id && cuda->stream_id(its_stream, &id) == CUDA_SUCCESS) state.id = id;
    if (status == CU_STREAM_CAPTURE_STATUS_NONE) state.kind = StreamState::Kind::executing;
    if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && graph) state.kind = StreamState::Kind::capturing;
    return state;
}

}  // namespace tmm::dropin
