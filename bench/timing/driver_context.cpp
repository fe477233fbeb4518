// The primary context and a stream; see driver_context.h.
#include "bench/timing/driver_context.h"

#include <fmt/format.h>

#include <fstream>

#include "base/error.h"
#include "runtime/device/cuda_driver.h"

namespace tmm::bench {
namespace {

void check(const CudaDriver& driver, CUresult result, const char* call) {
    if (result != CUDA_SUCCESS)
        throw Error(ExitStatus::no_device, fmt::format("{}: {}", call, describe(driver, result)), {}, "look at nvidia-smi");
}

}  // namespace

struct DriverContext::Held {
    explicit Held(int ordinal) : driver(cuda_driver()) {
        check(driver, driver.device_get(&device, ordinal), "cuDeviceGet");
        CUcontext context = nullptr;
        check(driver, driver.primary_context_retain(&context, device), "cuDevicePrimaryCtxRetain");
        CUresult result = driver.context_push(context);
        pushed = result == CUDA_SUCCESS;
        if (pushed) result = driver.stream_create(&stream, CU_STREAM_NON_BLOCKING);
        if (result == CUDA_SUCCESS) return;
        release();
        check(driver, result, "cuStreamCreate");
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { release(); }

    void release() noexcept {
        if (stream) driver.stream_destroy(stream);
        CUcontext popped = nullptr;
        if (pushed) driver.context_pop(&popped);
        driver.primary_context_release(device);
    }

    const CudaDriver& driver;
    CUdevice device = 0;
    CUstream stream = nullptr;
    bool pushed = false;
};

DriverContext::DriverContext(int ordinal) {
    if (ordinal != kHostDevice) held_ = std::make_unique<Held>(ordinal);
}
DriverContext::~DriverContext() = default;

Stream DriverContext::stream() const {
    return held_ ? held_->stream : nullptr;
}

std::string kernel_driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string word;
    while (file >> word)
        if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
    return {};
}

}  // namespace tmm::bench
