#include "runtime/device/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/error.h"
#include "runtime/device/cuda_driver.h"
#include "runtime/device/nvml.h"
#include "tmm/vocabulary/tensor_map.h"

namespace tmm {

namespace {

// Errors after which every later call in the process fails as well. Codes are spelled as numbers where older headers lack the name.
bool is_sticky(CUresult error) {
    switch (static_cast<int>(error)) {
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_HARDWARE_STACK_ERROR:
        case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        case CUDA_ERROR_MISALIGNED_ADDRESS:
        case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        case CUDA_ERROR_INVALID_PC:
        case CUDA_ERROR_LAUNCH_FAILED:
        case 226:  // CUDA_ERROR_CONTAINED
        case 721:  // CUDA_ERROR_TENSOR_MEMORY_LEAK
        case CUDA_ERROR_UNKNOWN: return true;
        default: return false;
    }
}

// Errors that no kernel causes, after which nothing works either.
bool is_of_hardware(CUresult error) {
    switch (static_cast<int>(error)) {
        case CUDA_ERROR_DEINITIALIZED:
        case 46:  // CUDA_ERROR_DEVICE_UNAVAILABLE
        case CUDA_ERROR_ECC_UNCORRECTABLE:
        case CUDA_ERROR_NVLINK_UNCORRECTABLE:
        case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        case 802:  // CUDA_ERROR_SYSTEM_NOT_READY
        case 805:  // CUDA_ERROR_MPS_CONNECTION_FAILED and what else MPS says of its server and clients
        case 806:
        case 807:
        case 808:
        case 809: return true;
        default: return false;
    }
}

void check(const CudaDriver& driver, CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return;
    if (result == CUDA_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
    const std::string text = fmt::format("{}: {}", call, describe(driver, result));
    if (is_of_hardware(result)) throw HardwareFault(text);
    if (is_sticky(result)) throw DeviceFault(text);
    throw LaunchRefused(text);
}

// The same check of what is loaded, where the code itself may be at fault.
void check_image(const CudaDriver& driver, CUresult result, const char* what) {
    for (const CUresult unusable :
         {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_SOURCE, CUDA_ERROR_INVALID_PTX, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_NOT_FOUND})
        if (result == unusable) throw UnusableImage(ExitStatus::no_device, fmt::format("{}: {}", what, describe(driver, result)));
    check(driver, result, what);
}

// The primary context, which the device and all that must be freed in it share.
struct Context {
    const CudaDriver& driver;
    CUdevice device = 0;
    CUcontext handle = nullptr;

    Context(const CudaDriver& opened, CUdevice number) : driver(opened), device(number) {
        const CUresult result = driver.primary_context_retain(&handle, device);
        if (result != CUDA_SUCCESS) {
            throw Error(ExitStatus::no_device, fmt::format("GPU {} can't be used: {}", device, describe(driver, result)), {},
                        "see nvidia-smi for what holds it, or use --gpu host");
        }
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() { driver.primary_context_release(device); }
};

// The context made current for the length of a scope. In most programs it is so already, and asking costs less than pushing and popping.
class Current {
public:
    explicit Current(const Context& context) : driver_(context.driver) {
        CUcontext now = nullptr;
        if (driver_.context_current(&now) == CUDA_SUCCESS && now == context.handle) return;
        check(driver_, driver_.context_push(context.handle), "cuCtxPushCurrent");
        pushed_ = true;
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    ~Current() {
        CUcontext popped = nullptr;
        if (pushed_) driver_.context_pop(&popped);
    }

private:
    const CudaDriver& driver_;
    bool pushed_ = false;
};

// While a stream is being captured, by this thread or another, the driver refuses to allocate, free, load and copy, and voids
// the capture. None of it touches the captured stream, so in this scope it is allowed.
class DuringCapture {
public:
    explicit DuringCapture(const CudaDriver& driver) : driver_(driver) { driver_.capture_mode_exchange(&mode_); }
    DuringCapture(const DuringCapture&) = delete;
    DuringCapture& operator=(const DuringCapture&) = delete;
    ~DuringCapture() { driver_.capture_mode_exchange(&mode_); }

private:
    const CudaDriver& driver_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// Runs the release in the context, whatever state the device is in; it is for destructors.
template <typename Release>
void release_in(const Context& context, const Release& release) noexcept {
    if (context.driver.context_push(context.handle) != CUDA_SUCCESS) return;
    {
        const DuringCapture during_capture(context.driver);
        release();
    }
    CUcontext popped = nullptr;
    context.driver.context_pop(&popped);
}

struct CudaKernel final : LoadedKernel {
    explicit CudaKernel(std::shared_ptr<const Context> owner) : context(std::move(owner)) {}
    ~CudaKernel() override {
        if (module) release_in(*context, [&] { context->driver.module_unload(module); });
    }
    CudaKernel(const CudaKernel&) = delete;
    CudaKernel& operator=(const CudaKernel&) = delete;

    std::shared_ptr<const Context> context;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
};

class CudaReplay final : public Replay {
public:
    CudaReplay(std::shared_ptr<const Context> context, const std::function<void(Stream)>& launches) : context_(std::move(context)) {
        const CudaDriver& d = context_->driver;
        const Current current(*context_);
        try {
            // The stream is not ordered with the default stream, whose use by another thread would otherwise break the capture.
            check(d, d.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
            check(d, d.event_create(&start_, CU_EVENT_DEFAULT), "cuEventCreate");
            check(d, d.event_create(&stop_, CU_EVENT_DEFAULT), "cuEventCreate");
            capture(launches);
            check(d, d.graph_instantiate(&executable_, graph_, 0), "cuGraphInstantiate");
            check(d, d.graph_upload(executable_, stream_), "cuGraphUpload");
            check(d, d.stream_synchronize(stream_), "cuStreamSynchronize");
        } catch (...) {
            destroy();
            throw;
        }
    }
    ~CudaReplay() override {
        release_in(*context_, [&] { destroy(); });
    }
    CudaReplay(const CudaReplay&) = delete;
    CudaReplay& operator=(const CudaReplay&) = delete;

    double run_timed() override {
        const CudaDriver& d = context_->driver;
        const Current current(*context_);
        check(d, d.stream_synchronize(nullptr), "cuStreamSynchronize");
        check(d, d.event_record(start_, stream_), "cuEventRecord");
        check(d, d.graph_launch(executable_, stream_), "cuGraphLaunch");
        check(d, d.event_record(stop_, stream_), "cuEventRecord");
        check(d, d.event_synchronize(stop_), "cuEventSynchronize");
        float milliseconds = 0;
        check(d, d.event_elapsed(&milliseconds, start_, stop_), "cuEventElapsedTime");
        return static_cast<double>(milliseconds) * 1e3;
    }

private:
    void capture(const std::function<void(Stream)>& launches) {
        const CudaDriver& d = context_->driver;
        // The mode is relaxed: whoever records may allocate meanwhile.
        check(d, d.capture_begin(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
        try {
            launches(stream_);
        } catch (...) {
            // A capture left open would break the stream's and the thread's later calls.
            d.capture_end(stream_, &graph_);
            throw;
        }
        check(d, d.capture_end(stream_, &graph_), "cuStreamEndCapture");
    }
    void destroy() noexcept {
        const CudaDriver& d = context_->driver;
        if (executable_) d.graph_executable_destroy(executable_);
        if (graph_) d.graph_destroy(graph_);
        if (start_) d.event_destroy(start_);
        if (stop_) d.event_destroy(stop_);
        if (stream_) d.stream_destroy(stream_);
    }

    std::shared_ptr<const Context> context_;
    CUstream stream_ = nullptr;
    CUevent start_ = nullptr;
    CUevent stop_ = nullptr;
    CUgraph graph_ = nullptr;
    CUgraphExec executable_ = nullptr;
};

CUtensorMapDataType tensor_type(const TensorMapRequest& request) {
    switch (request.type) {
        case ElementType::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
        case ElementType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
        case ElementType::f64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
        case ElementType::s8: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
        case ElementType::s32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
        case ElementType::f32: break;
    }
    return request.rounds_to_tf32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

CUdeviceptr device_pointer(const void* memory) {
    return reinterpret_cast<CUdeviceptr>(memory);
}

// A launch in the driver's terms, on the default stream.
struct LaunchConfig {
    CUlaunchConfig of_driver{};
    CUlaunchAttribute attributes[3] = {};

    LaunchConfig(const LaunchShape& shape, bool may_begin_early) {
        of_driver.gridDimX = static_cast<unsigned>(shape.grid);
        of_driver.gridDimY = 1;
        of_driver.gridDimZ = 1;
        of_driver.blockDimX = static_cast<unsigned>(shape.threads);
        of_driver.blockDimY = 1;
        of_driver.blockDimZ = 1;
        of_driver.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
        of_driver.attrs = attributes;
        if (shape.cluster > 1) {
            CUlaunchAttribute& cluster = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
            cluster.value.clusterDim.x = static_cast<unsigned>(shape.cluster);
            cluster.value.clusterDim.y = 1;
            cluster.value.clusterDim.z = 1;
            // Spread, the default, leaves some SMs of a GPC with many blocks and others with few.
            attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE).value.clusterSchedulingPolicyPreference =
                CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
        }
        if (shape.begins_early && may_begin_early)
            attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).value.programmaticStreamSerializationAllowed = 1;
    }
    LaunchConfig(const LaunchConfig&) = delete;
    LaunchConfig& operator=(const LaunchConfig&) = delete;

private:
    CUlaunchAttribute& attribute(CUlaunchAttributeID id) {
        CUlaunchAttribute& added = attributes[of_driver.numAttrs++];
        added.id = id;
        return added;
    }
};

class CudaDevice final : public Device {
public:
    CudaDevice(const CudaDriver& driver, CUdevice number) : driver_(driver), context_(std::make_shared<Context>(driver, number)) {
        read_info(number);
    }

    const DeviceInfo& info() const override { return info_; }
    DeviceInfo info_with_power_limit() override {
        DeviceInfo info = info_;
        if (const Nvml* const management = nvml()) info.power_limit = management->power_limit_watts();
        return info;
    }

    void* allocate(std::size_t bytes) override {
        if (bytes == 0) return nullptr;
        const Current current(*context_);
        const DuringCapture during_capture(driver_);
        CUdeviceptr memory = 0;
        check(driver_, driver_.memory_allocate(&memory, bytes), "cuMemAlloc");
        return reinterpret_cast<void*>(memory);
    }
    void release(void* memory) noexcept override {
        if (!memory) return;
        release_in(*context_, [&] { driver_.memory_free(device_pointer(memory)); });
    }

    // The driver's synchronous copies may return before the last bytes are in place on the device, which streams that are not
    // ordered with the default one would notice; hence the wait.
    void copy_to_device(void* to, const void* from, std::size_t bytes) override {
        if (bytes == 0) return;
        const Current current(*context_);
        const DuringCapture during_capture(driver_);
        check(driver_, driver_.copy_to_device(device_pointer(to), from, bytes), "cuMemcpyHtoD");
        check(driver_, driver_.stream_synchronize(nullptr), "cuStreamSynchronize");
    }
    void copy_to_host(void* to, const void* from, std::size_t bytes) override {
        if (bytes == 0) return;
        const Current current(*context_);
        const DuringCapture during_capture(driver_);
        check(driver_, driver_.copy_to_host(to, device_pointer(from), bytes), "cuMemcpyDtoH");
    }
    void fill_bytes(void* memory, unsigned char value, std::size_t bytes) override {
        if (bytes == 0) return;
        const Current current(*context_);
        const DuringCapture during_capture(driver_);
        check(driver_, driver_.fill_bytes(device_pointer(memory), value, bytes), "cuMemsetD8");
        check(driver_, driver_.stream_synchronize(nullptr), "cuStreamSynchronize");
    }

    std::shared_ptr<const LoadedKernel> load(const CompiledKernel& kernel, const std::string& entry) override {
        const Current current(*context_);
        const DuringCapture during_capture(driver_);
        auto loaded = std::make_shared<CudaKernel>(context_);
        // PTX is text, which the driver reads up to a zero byte.
        std::vector<std::byte> image = kernel.image;
        image.push_back(std::byte{0});
        check_image(driver_, driver_.module_load(&loaded->module, image.data(), 0, nullptr, nullptr), "cuModuleLoadData");
        check_image(driver_, driver_.module_function(&loaded->function, loaded->module, entry.c_str()), "cuModuleGetFunction");
        check(driver_,
              driver_.function_set_attribute(loaded->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(info_.shared_bytes_per_block)),
              "cuFuncSetAttribute");
        // Loading may otherwise wait for the first launch, which may stand inside a stream capture.
        if (driver_.function_load) check(driver_, driver_.function_load(loaded->function), "cuFuncLoad");
        return loaded;
    }

    void launch(const LoadedKernel& kernel, const LaunchShape& shape, const void* arguments,
                std::size_t /*argument_bytes: the kernel's own parameter says*/, Stream stream) override {
        if (shape.grid < 1 || shape.grid > std::numeric_limits<int>::max())
            throw LaunchRefused(fmt::format("a grid of {} blocks is outside of 1 to 2147483647", shape.grid));
        if (shape.shared_bytes < 0 || shape.shared_bytes > info_.shared_bytes_per_block)
            throw LaunchRefused(
                fmt::format("{} bytes of shared memory a block, the device has {}", shape.shared_bytes, info_.shared_bytes_per_block));
        const Current current(*context_);
        LaunchConfig config(shape, begins_early_);
        config.of_driver.hStream = static_cast<CUstream>(stream);
        // Every kernel has exactly one parameter, a struct by value.
        void* parameters[] = {const_cast<void*>(arguments)};
        check(driver_, driver_.launch(&config.of_driver, static_cast<const CudaKernel&>(kernel).function, parameters, nullptr),
              "cuLaunchKernelEx");
    }

    void encode_tensor_map(const TensorMapRequest& request, void* map) const override {
        if (!driver_.tensor_map_encode_tiled)
            throw LaunchRefused("the CUDA driver is too old for tensor maps: it has no cuTensorMapEncodeTiled");
        const Current current(*context_);
        const cuuint64_t sizes[] = {static_cast<cuuint64_t>(request.columns), static_cast<cuuint64_t>(request.rows),
                                    static_cast<cuuint64_t>(request.matrices)};
        const cuuint64_t strides[] = {static_cast<cuuint64_t>(request.row_bytes), static_cast<cuuint64_t>(request.matrix_bytes)};
        const cuuint32_t box[] = {static_cast<cuuint32_t>(request.box_columns), static_cast<cuuint32_t>(request.box_rows), 1};
        const cuuint32_t neighbours[] = {1, 1, 1};
        const int swizzle_bytes = request.swizzle_bytes();
        const CUtensorMapSwizzle swizzle = swizzle_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                           : swizzle_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                           : swizzle_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                                 : CU_TENSOR_MAP_SWIZZLE_NONE;
        // The L2 cache may fetch two lines where a box asks for one. That spares boxes that are brought often some waiting (1 to 3% of
        // large products), but memory is read 1 to 3% slower so. A row of a box begins within a line where the matrix's rows are no whole
        // lines: then lines would be fetched that no box needs.
        constexpr std::int64_t line = 128;
        const bool whole_lines = request.row_bytes % line == 0 && request.matrix_bytes % line == 0;
        const CUtensorMapL2promotion promotion =
            request.reused && whole_lines ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
        check(driver_,
              driver_.tensor_map_encode_tiled(static_cast<CUtensorMap*>(map), tensor_type(request), 3, const_cast<void*>(request.address),
                                              sizes, strides, box, neighbours, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion,
                                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
              "cuTensorMapEncodeTiled");
    }

    void set_address(void* map, const void* address) const override {
        if (address_comes_first_) {
            std::memcpy(map, &address, sizeof address);
            return;
        }
        check(driver_, driver_.tensor_map_replace_address(static_cast<CUtensorMap*>(map), const_cast<void*>(address)),
              "cuTensorMapReplaceAddress");
    }

    void synchronize(Stream stream) override {
        const Current current(*context_);
        check(driver_, driver_.stream_synchronize(static_cast<CUstream>(stream)), "cuStreamSynchronize");
    }

    bool is_recorded(Stream stream) override {
        // The default stream can't be captured, and asking about it disturbs the captures of others.
        if (!stream || stream == CU_STREAM_LEGACY) return false;
        if (!driver_.is_capturing) return true;
        const Current current(*context_);
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        return driver_.is_capturing(static_cast<CUstream>(stream), &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
    }

    std::unique_ptr<Replay> record(const std::function<void(Stream)>& launches) override {
        return std::make_unique<CudaReplay>(context_, launches);
    }

    DeviceState state() override {
        const Nvml* const management = nvml();
        if (!management) return {};
        return {.sm_clock_mhz = management->sm_clock_mhz(), .throttled = management->throttled()};
    }

    DeviceSharing sharing() override {
        const Nvml* const management = nvml();
        if (!management) return {};
        // The GPU's processes may be those of other slices.
        if (management->is_divided()) return {.is_slice = true};
        // This process has a context. Its number tells nothing in a container, where it has another outside.
        return {.other_processes = std::max(0, management->processes() - 1)};
    }

    int blocks_per_sm(const LoadedKernel& kernel, int threads, std::int64_t shared_bytes) override {
        const Current current(*context_);
        int blocks = 0;
        const CUresult result = driver_.resident_blocks(&blocks, static_cast<const CudaKernel&>(kernel).function, threads,
                                                        static_cast<std::size_t>(shared_bytes));
        return result == CUDA_SUCCESS ? blocks : 0;
    }

    int clusters_at_once(const LoadedKernel& kernel, const LaunchShape& shape) override {
        if (!driver_.resident_clusters) return 0;
        const Current current(*context_);
        const LaunchConfig config(shape, false);
        int clusters = 0;
        const CUresult result = driver_.resident_clusters(&clusters, static_cast<const CudaKernel&>(kernel).function, &config.of_driver);
        return result == CUDA_SUCCESS ? clusters : 0;
    }

private:
    // Does this driver's encoding of a tensor map begin with its matrix's address, and depend on it nowhere else? Then no call has to
    // ask the driver to put another one in.
    bool finds_address_first() const {
        const auto encoded = [&](std::uintptr_t address) {
            TensorMap map;
            encode_tensor_map({.address = reinterpret_cast<const void*>(address),
                               .type = ElementType::f32,
                               .rows = 64,
                               .columns = 64,
                               .row_bytes = 256,
                               .matrix_bytes = 256 * 64,
                               .box_rows = 8,
                               .box_columns = 32},
                              &map);
            return map;
        };
        constexpr std::uintptr_t kAddresses[] = {0x7f3000000200, 0x1000000010, 0x2a5a5a5a50};
        try {
            const TensorMap first = encoded(kAddresses[0]);
            return std::all_of(std::begin(kAddresses), std::end(kAddresses), [&](std::uintptr_t address) {
                const TensorMap map = encoded(address);
                return map.words[0] == address && std::equal(std::begin(map.words) + 1, std::end(map.words), first.words + 1);
            });
        } catch (const std::exception&) {
            return false;
        }
    }
    // Null where NVML is absent. It is opened when it is first asked for: programs that only multiply need none.
    const Nvml* nvml() {
        std::call_once(nvml_opened_, [&] {
            char bus_id[32] = {};
            if (driver_.device_pci_bus_id(bus_id, sizeof bus_id, context_->device) == CUDA_SUCCESS) nvml_ = Nvml::open(bus_id);
        });
        return nvml_.get();
    }
    int attribute(CUdevice_attribute which, CUdevice number) const {
        int value = 0;
        check(driver_, driver_.device_attribute(&value, which, number), "cuDeviceGetAttribute");
        return value;
    }
    void read_info(CUdevice number) {
        char name[256] = {};
        check(driver_, driver_.device_name(name, sizeof name, number), "cuDeviceGetName");
        std::size_t memory = 0;
        check(driver_, driver_.device_total_memory(&memory, number), "cuDeviceTotalMem");
        info_.name = name;
        info_.compute_capability_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, number);
        info_.compute_capability_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, number);
        info_.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, number);
        info_.memory_bytes = static_cast<std::int64_t>(memory);
        info_.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, number);
        info_.shared_bytes_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, number);
        info_.shared_bytes_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, number);
        info_.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, number);
        info_.max_threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, number);
        info_.clock_khz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, number);
        info_.memory_clock_khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, number);
        info_.memory_bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, number);
        check(driver_, driver_.driver_version(&info_.driver_version), "cuDriverGetVersion");
        info_.profile = profile_of(info_);
        // Drivers for CUDA 12.3 and later capture such launches into graphs.
        begins_early_ = info_.compute_capability() >= 90 && info_.driver_version >= 12030;
        address_comes_first_ = info_.compute_capability() >= 90 && driver_.tensor_map_encode_tiled && finds_address_first();
    }

    const CudaDriver& driver_;
    std::shared_ptr<const Context> context_;
    std::once_flag nvml_opened_;
    std::unique_ptr<Nvml> nvml_;
    DeviceInfo info_;
    // Kernels that wait themselves may begin before what they wait for has ended.
    bool begins_early_ = false;
    bool address_comes_first_ = false;
};

}  // namespace

std::shared_ptr<Device> make_cuda_device(int ordinal) {
    const CudaDriver& driver = cuda_driver();
    int count = 0;
    if (const CUresult result = driver.device_count(&count); result != CUDA_SUCCESS)
        throw Error(ExitStatus::no_device, fmt::format("cuDeviceGetCount: {}", describe(driver, result)), {}, "use --gpu host");
    if (ordinal < 0 || ordinal >= count) {
        throw Error(
            ExitStatus::no_device,
            count == 0   ? fmt::format("no GPU {}: the driver shows no GPU", ordinal)
            : count == 1 ? fmt::format("no GPU {}: the driver shows one, GPU 0", ordinal)
                         : fmt::format("no GPU {}: the driver shows {}, GPU 0 to {}", ordinal, count, count - 1),
            {}, count == 0 ? "use --gpu host for the emulated device (in a program TMM_DEVICE_HOST)" : "choose one of them, or --gpu host");
    }
    CUdevice number = 0;
    if (const CUresult result = driver.device_get(&number, ordinal); result != CUDA_SUCCESS)
        throw Error(ExitStatus::no_device, fmt::format("GPU {}: {}", ordinal, describe(driver, result)), {}, "use --gpu host");
    return std::make_shared<CudaDevice>(driver, number);
}

int gpu_count() noexcept {
    try {
        int count = 0;
        return cuda_driver().device_count(&count) == CUDA_SUCCESS ? count : 0;
    } catch (...) {
        return 0;
    }
}

}  // namespace tmm
