// A device that runs kernels: a GPU through the CUDA driver, or the emulation on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "generator/compile/compiler.h"
#include "generator/machine/device_info.h"
#include "generator/steps/tensor_maps.h"

namespace tmm {

// A stream of the device; null is its default stream. The emulated device runs everything at once, in order.
using Stream = void*;

// How a kernel is launched.
struct LaunchShape {
    std::int64_t grid = 1;
    int threads = 1;
    int cluster = 1;
    std::int64_t shared_bytes = 0;
    // The kernel may begin while the one before it in the stream ends, for which it waits itself (previous_kernel.cuh).
    bool begins_early = false;
    // Blocks wait for others of lower number. They find these begun before them, since GPUs begin a grid's blocks in that order.
    bool waits_for_blocks_before = false;
};

class LoadedKernel {
public:
    virtual ~LoadedKernel() = default;
};

// Compiled code that can't be loaded, whatever it came from.
class UnusableImage : public Error {
public:
    using Error::Error;
};

// A sequence of launches, recorded once and replayed.
class Replay {
public:
    virtual ~Replay() = default;
    // Runs it and gives the device time in microseconds.
    virtual double run_timed() = 0;
};

struct DeviceState {
    // The clock is 0 where it can't be read.
    int sm_clock_mhz = 0;
    bool throttled = false;
};

// Who else may take a part of the device's time.
struct DeviceSharing {
    // The device is a slice of a GPU that others have slices of (MIG).
    bool is_slice = false;
    // Processes beside this one that have a context on the GPU; 0 on a slice, and where that can't be read.
    int other_processes = 0;
};
// What a user should know before times are believed, such as "2 other processes use the GPU: …"; empty where there is nothing to say.
std::string warning_of(const DeviceSharing& sharing);
// The same where power or heat holds the clock down.
std::string throttling_warning();

// A sticky fault of the device (illegal address, misaligned access, launch failure): the process must be replaced.
class DeviceFault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};
// A fault that no kernel causes: the memory or a link is broken, or somebody has taken the device away.
class HardwareFault : public DeviceFault {
public:
    using DeviceFault::DeviceFault;
};
// A launch that the device refused (too many resources); the device goes on working.
class LaunchRefused : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Thread-safe, except that a stream's launches are ordered by the caller. Failures throw Error (no_device), DeviceFault or
// LaunchRefused. On a GPU each call pushes the device's primary context and pops it, unless it is the current one.
class Device {
public:
    virtual ~Device() = default;
    // All but the power limit, which takes milliseconds to ask for.
    virtual const DeviceInfo& info() const = 0;
    virtual DeviceInfo info_with_power_limit() { return info(); }

    // The memory is aligned to 256 bytes. Zero bytes give null. Throws std::bad_alloc where memory is short.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void release(void* memory) noexcept = 0;
    // These three order themselves after the default stream's work and return when the copy is done.
    virtual void copy_to_device(void* to, const void* from, std::size_t bytes) = 0;
    virtual void copy_to_host(void* to, const void* from, std::size_t bytes) = 0;
    virtual void fill_bytes(void* memory, unsigned char value, std::size_t bytes) = 0;

    // Loads one entry, whose blocks may take all the shared memory that the device gives one. Throws UnusableImage as well.
    virtual std::shared_ptr<const LoadedKernel> load(const CompiledKernel& kernel, const std::string& entry) = 0;
    // Only launches: it makes no allocation, takes no lock, and is safe inside stream capture. arguments: the kernel's one struct, by
    // value.
    virtual void launch(const LoadedKernel& kernel, const LaunchShape& shape, const void* arguments, std::size_t argument_bytes,
                        Stream stream) = 0;
    // Writes the TensorMap (templates/tmm/vocabulary/tensor_map.h) that TMA reads. Only computes.
    virtual void encode_tensor_map(const TensorMapRequest& request, void* map) const = 0;
    // The map is encoded; its matrix lies elsewhere from now on. Only computes.
    virtual void set_address(void* map, const void* address) const = 0;
    virtual void synchronize(Stream stream = nullptr) = 0;
    // Are launches on the stream recorded, to be run again later, so that what they use must stay? True where that can't be known.
    virtual bool is_recorded(Stream) { return true; }

    virtual std::unique_ptr<Replay> record(const std::function<void(Stream)>& launches) = 0;
    virtual DeviceState state() = 0;
    virtual DeviceSharing sharing() { return {}; }
    // Resident blocks of this kernel that an SM holds; 0 where that is unknown.
    virtual int blocks_per_sm(const LoadedKernel& kernel, int threads, std::int64_t shared_bytes) = 0;
    // Clusters of the shape that are resident at once; SMs that a GPC has left over take no part in them. 0 where that is unknown.
    virtual int clusters_at_once(const LoadedKernel&, const LaunchShape&) { return 0; }
};

inline constexpr int kHostDevice = -1;

// kHostDevice is the emulation. Throws Error (no_device) that names what is missing: the driver, or the GPU of that number.
std::shared_ptr<Device> open_device(int ordinal);
// GPUs that the driver shows; 0 without a driver. It creates no context and never throws.
int gpu_count() noexcept;

// Device memory that frees itself.
class DeviceBuffer {
public:
    DeviceBuffer() = default;
    DeviceBuffer(std::shared_ptr<Device> device, std::size_t bytes)
        : device_(std::move(device)), data_(device_->allocate(bytes)), bytes_(bytes) {}
    DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~DeviceBuffer() {
        if (data_) device_->release(data_);
    }
    void* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    void swap(DeviceBuffer& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }
    std::shared_ptr<Device> device_;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace tmm
