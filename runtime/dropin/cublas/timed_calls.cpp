#include "runtime/dropin/cublas/timed_calls.h"

#include <new>

#include "runtime/dropin/cublas/cuda_calls.h"

namespace tmm::dropin {
namespace {

CUevent event_of(void* pointer) {
    return static_cast<CUevent>(pointer);
}

bool record(void* event, void* stream) noexcept {
    return event && cuda_calls()->event_record(event_of(event), static_cast<CUstream>(stream)) == CUDA_SUCCESS;
}

}  // namespace

void* EventPool::take() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            void* const event = free_.back();
            free_.pop_back();
            return event;
        }
    }
    CUevent event = nullptr;
    return cuda_calls()->event_create(&event, CU_EVENT_DEFAULT) == CUDA_SUCCESS ? event : nullptr;
}

void EventPool::give_back(void* event) noexcept {
    if (!event) return;
    try {
        const std::lock_guard lock(mutex_);
        free_.push_back(event);
    } catch (...) {
        cuda_calls()->event_destroy(event_of(event));
    }
}

TimedCall* begin_timed(RacedShape& shape, int side, void* stream, EventPool* pool) noexcept {
    auto* const call = new (std::nothrow) TimedCall{.shape = &shape, .side = side, .stream = stream};
    if (!call) return nullptr;
    if (pool) {
        call->first = pool->take();
        if (!record(call->first, stream)) {
            discard(call, pool);
            return nullptr;
        }
    }
    call->began = std::chrono::steady_clock::now();
    return call;
}

bool stop_timed(TimedCall& call, EventPool* pool) noexcept {
    call.host_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - call.began).count();
    if (!pool) return true;
    call.last = pool->take();
    return record(call.last, call.stream);
}

std::optional<double> time_of(const TimedCall& call) noexcept {
    if (!call.last) return call.host_us;
    // Whoever captures elsewhere must not be disturbed by the question.
    const DuringCapture allowed(*cuda_calls());
    const CUresult state = cuda_calls()->event_query(event_of(call.last));
    if (state == CUDA_ERROR_NOT_READY) return std::nullopt;
    float milliseconds = 0;
    if (state != CUDA_SUCCESS || cuda_calls()->event_elapsed(&milliseconds, event_of(call.first), event_of(call.last)) != CUDA_SUCCESS)
        return -1;
    return milliseconds * 1e3;
}

void discard(TimedCall* call, EventPool* pool) noexcept {
    if (!call) return;
    if (pool) {
        pool->give_back(call->first);
        pool->give_back(call->last);
    }
    delete call;
}

}  // namespace tmm::dropin
