// Helpers that the tests that capture a stream on a GPU share.
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <functional>

#include "runtime/device/cuda_driver.h"
#include "runtime/device/device.h"

namespace api_testing {

inline bool no_gpu() {
    if (tmm::gpu_count() > 0) return false;
    MESSAGE("skipped: no GPU here");
    return true;
}

// GPU 0's primary context, current while it lives, and a stream of it.
class CapturedStream {
public:
    CapturedStream() : driver_(tmm::cuda_driver()) {
        REQUIRE(driver_.device_get(&device_, 0) == CUDA_SUCCESS);
        REQUIRE(driver_.primary_context_retain(&context_, device_) == CUDA_SUCCESS);
        REQUIRE(driver_.context_push(context_) == CUDA_SUCCESS);
        REQUIRE(driver_.stream_create(&stream_, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    }
    ~CapturedStream() {
        driver_.stream_destroy(stream_);
        driver_.context_pop(&context_);
        driver_.primary_context_release(device_);
    }
    CapturedStream(const CapturedStream&) = delete;
    CapturedStream& operator=(const CapturedStream&) = delete;

    CUstream get() const { return stream_; }

    // Captures what `call` queues, between the beginning and the end nothing else, and replays it twice.
    void capture_and_replay(const std::function<void()>& call) const {
        CUgraph graph = nullptr;
        CUgraphExec executable = nullptr;
        REQUIRE(driver_.capture_begin(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
        call();
        REQUIRE(driver_.capture_end(stream_, &graph) == CUDA_SUCCESS);
        REQUIRE(driver_.graph_instantiate(&executable, graph, 0) == CUDA_SUCCESS);
        CHECK(driver_.graph_launch(executable, stream_) == CUDA_SUCCESS);
        CHECK(driver_.graph_launch(executable, stream_) == CUDA_SUCCESS);
        CHECK(driver_.stream_synchronize(stream_) == CUDA_SUCCESS);
        driver_.graph_executable_destroy(executable);
        driver_.graph_destroy(graph);
    }

    // Driver functions that the library itself does not use.
    template <class Function>
    static Function driver_function(const char* name) {
        static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
        REQUIRE((library != nullptr));
        const auto function = reinterpret_cast<Function>(dlsym(library, name));
        REQUIRE((function != nullptr));
        return function;
    }

private:
    const tmm::CudaDriver& driver_;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
    CUstream stream_ = nullptr;
};

}  // namespace api_testing
