#include "runtime/dropin/cublas/call_timer.h"

#include "runtime/dropin/cublas/cuda_calls.h"
#include "runtime/dropin/cublas/stream_state.h"

namespace tmm::dropin {
namespace {

CUevent event_of(void* pointer) {
    return static_cast<CUevent>(pointer);
}

// An event at the stream's end, or null.
void* recorded_event(const CudaCalls& cuda, void* stream) noexcept {
    CUevent event = nullptr;
    if (cuda.event_create(&event, CU_EVENT_DEFAULT) != CUDA_SUCCESS) return nullptr;
    if (cuda.event_record(event, static_cast<CUstream>(stream)) == CUDA_SUCCESS) return event;
    cuda.event_destroy(event);
    return nullptr;
}

}  // namespace

CallTimer::CallTimer(void* stream, bool runs_at_once) noexcept
    : runs_at_once_(runs_at_once), began_(std::chrono::steady_clock::now()), stream_(stream) {
    if (!runs_at_once_ && state_of_stream(stream).kind == StreamState::Kind::executing) first_ = recorded_event(*cuda_calls(), stream);
}

CallTimer::~CallTimer() {
    for (void* const event : {first_, last_})
        if (event) cuda_calls()->event_destroy(event_of(event));
}

std::optional<double> CallTimer::seconds() noexcept {
    if (runs_at_once_) return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    if (!first_) return std::nullopt;
    const DuringCapture allowed(*cuda_calls());
    last_ = recorded_event(*cuda_calls(), stream_);
    float milliseconds = 0;
    if (!last_ || cuda_calls()->event_synchronize(event_of(last_)) != CUDA_SUCCESS ||
        cuda_calls()->event_elapsed(&milliseconds, event_of(first_), event_of(last_)) != CUDA_SUCCESS)
        return std::nullopt;
    return milliseconds / 1e3;
}

}  // namespace tmm::dropin
