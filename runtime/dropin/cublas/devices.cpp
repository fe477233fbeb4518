#include "runtime/dropin/cublas/devices.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/dropin/cublas/cuda_calls.h"
#include "runtime/dropin/log.h"
#include "runtime/dropin/settings.h"

namespace tmm::dropin {
namespace {

class HostMemory final : public BlockSource {
public:
    void* allocate(std::size_t bytes) noexcept override {
        return std::aligned_alloc(TMM_WORKSPACE_ALIGNMENT,
                                  (bytes + TMM_WORKSPACE_ALIGNMENT - 1) / TMM_WORKSPACE_ALIGNMENT * TMM_WORKSPACE_ALIGNMENT);
    }
    void release(void* memory) noexcept override { std::free(memory); }
    bool when_gone(void*, std::atomic<bool>*) noexcept override { return false; }
};

// Memory of the calling thread's context.
class GpuMemory final : public BlockSource {
public:
    explicit GpuMemory(const CudaCalls& cuda) : cuda_(cuda) {}

    void* allocate(std::size_t bytes) noexcept override {
        const DuringCapture allowed(cuda_);
        CUdeviceptr memory = 0;
        if (cuda_.memory_allocate(&memory, bytes) != CUDA_SUCCESS) return nullptr;
        return reinterpret_cast<void*>(memory);
    }
    void release(void* memory) noexcept override {
        const DuringCapture allowed(cuda_);
        cuda_.memory_free(reinterpret_cast<CUdeviceptr>(memory));
    }
    bool when_gone(void* graph, std::atomic<bool>* flag) noexcept override {
        CUuserObject object = nullptr;
        const auto set = [](void* value) { static_cast<std::atomic<bool>*>(value)->store(true); };
        if (cuda_.user_object_create(&object, flag, set, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) != CUDA_SUCCESS) return false;
        // Where the graph does not take the object it is never released, so that it does not set the flag.
        return cuda_.graph_retain(static_cast<CUgraph>(graph), object, 1, CU_GRAPH_USER_OBJECT_MOVE) == CUDA_SUCCESS;
    }

private:
    const CudaCalls& cuda_;
};

// All of it, so that a workspace is never what is missing.
constexpr std::size_t kNoLimit = std::size_t{1} << 62;

// What tunes the products of a device in TMM_MODE=tune, or null.
BackgroundTuning* make_tuning(const std::string& gpu) {
    if (settings().mode != Mode::tune) return nullptr;
    std::string tool = tool_beside_library();
    if (tool.empty()) {
        log(LogLevel::error,
            "TMM_MODE=tune needs tmm-tune beside this library, or in ../bin: install both, or tune what TMM_MODE=record writes");
        return nullptr;
    }
    // Devices of one process share one, so that one run goes on at a time; the first device that multiplies is tuned.
    static BackgroundTuning* only = nullptr;
    if (only) return nullptr;
    only = new BackgroundTuning(std::move(tool), gpu);
    std::atexit([] { only->stop(); });
    return only;
}

DeviceProducts* emulated_device() {
    static auto* const device = [] {
        const std::size_t limit = static_cast<std::size_t>(settings().workspace_limit.value_or(kNoLimit));
        return new DeviceProducts(TMM_DEVICE_HOST, *new HostMemory, limit, make_tuning("host"));
    }();
    return device;
}

// Contexts are few and stay; whatever was found of one is kept.
class Contexts {
public:
    explicit Contexts(const CudaCalls& cuda) : cuda_(cuda) {}

    DeviceProducts* find(CUcontext context) {
        const std::lock_guard lock(mutex_);
        for (const Known& known : known_)
            if (known.context == context) return known.device;
        known_.push_back({context, nullptr});
        known_.back().device = device_of_current();
        return known_.back().device;
    }

private:
    struct Known {
        CUcontext context;
        DeviceProducts* device;
    };

    DeviceProducts* device_of_current() {
        CUcontext context = nullptr;
        CUdevice device = 0;
        if (cuda_.context_current(&context) != CUDA_SUCCESS || cuda_.context_device(&device) != CUDA_SUCCESS) return nullptr;
        const int ordinal = ordinal_of(device);
        if (ordinal < 0 || (settings().device_is_named && settings().device != ordinal)) return nullptr;
        CUcontext primary = nullptr;
        if (cuda_.primary_context_retain(&primary, device) != CUDA_SUCCESS) return nullptr;
        if (primary != context) {
            cuda_.primary_context_release(device);
            return nullptr;
        }
        std::size_t memory = 0;
        cuda_.device_total_memory(&memory, device);
        const std::size_t limit = settings().workspace_limit ? static_cast<std::size_t>(*settings().workspace_limit) : memory / kShare;
        return new DeviceProducts(ordinal, *new GpuMemory(cuda_), limit, make_tuning(std::to_string(ordinal)));
    }
    int ordinal_of(CUdevice device) const {
        int count = 0;
        if (cuda_.device_count(&count) != CUDA_SUCCESS) return -1;
        for (int ordinal = 0; ordinal < count; ++ordinal) {
            CUdevice of = 0;
            if (cuda_.device_get(&of, ordinal) == CUDA_SUCCESS && of == device) return ordinal;
        }
        return -1;
    }

    // An eighth of the device's memory is for workspaces where TMM_WORKSPACE_LIMIT does not say otherwise.
    static constexpr std::size_t kShare = 8;

    const CudaCalls& cuda_;
    std::mutex mutex_;
    std::vector<Known> known_;
};

Contexts* contexts() {
    static auto* const all = [] {
        const CudaCalls* const cuda = cuda_calls();
        if (!cuda) log(LogLevel::warn, "all products go to cuBLAS: there is no CUDA driver, or one older than 11.3");
        return cuda ? new Contexts(*cuda) : nullptr;
    }();
    return all;
}

}  // namespace

DeviceProducts* current_device() {
    if (settings().device == TMM_DEVICE_HOST) return emulated_device();
    Contexts* const all = contexts();
    CUcontext context = nullptr;
    if (!all || cuda_calls()->context_current(&context) != CUDA_SUCCESS || !context) return nullptr;
    // A thread seldom changes its device.
    static thread_local CUcontext last = nullptr;
    static thread_local DeviceProducts* its_device = nullptr;
    if (context != last) {
        its_device = all->find(context);
        last = context;
    }
    return its_device;
}

}  // namespace tmm::dropin
