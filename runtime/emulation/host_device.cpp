// The emulated device: memory is the process's own, a launch runs to its end on the calling thread.
#include "runtime/emulation/host_device.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/locked_temporary.h"
#include "base/files/private_files.h"
#include "base/text/environment.h"
#include "generator/compile/shared_object.h"
#include "runtime/device/sanitizer.h"
#include "runtime/emulation/host_block.h"
#include "tmm/vocabulary/tensor_map.h"

namespace tmm {
namespace {

constexpr std::size_t kAlignment = 256;
// Larger allocations stay as the system gives them, which commits no memory.
constexpr std::size_t kFillLimit = 64 << 20;

// A kernel's shared object, unloaded with its last kernel.
class Module {
public:
    explicit Module(const std::vector<std::byte>& image) {
        if (!is_shared_object(image))
            throw UnusableImage(ExitStatus::no_device,
                                fmt::format("the image of a kernel is damaged, or for another machine than {}", host_machine()));
        // The loader takes files only, and takes files of one name for one: the image gets a file with a name of its own, which is gone
        // once it is loaded.
        std::unique_ptr<const LockedTemporary> file = written_file(image);
        handle_ = dlopen(file->path().c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle_) {
            const char* const reason = dlerror();
            throw UnusableImage(ExitStatus::no_device, fmt::format("can't load a kernel: {}", reason ? reason : "unknown error"),
                                file->path().string(), kRemedy);
        }
        // A report of AddressSanitizer names functions and lines from the file.
        if (sanitizer::kActive) kept_file_ = std::move(file);
        const auto connect = reinterpret_cast<void (*)(const host::Services*)>(dlsym(handle_, "tmm_host_connect"));
        if (!connect) {
            dlclose(handle_);
            throw UnusableImage(ExitStatus::no_device, "the image is no kernel of the emulated device");
        }
        connect(&host_services());
    }
    ~Module() { dlclose(handle_); }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    void* symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

private:
    static constexpr const char* kRemedy = "TMPDIR must name a directory that can be written to and whose files may be executed";

    static std::unique_ptr<const LockedTemporary> written_file(const std::vector<std::byte>& image) {
        const auto fail = [](const std::string& why, const std::string& where) {
            throw Error(ExitStatus::no_device, "can't write a kernel: " + why, where, kRemedy);
        };
        std::unique_ptr<const LockedTemporary> file;
        try {
            file = std::make_unique<const LockedTemporary>(temporary_directory(), LockedTemporary::Kind::file, "kernel");
        } catch (const std::system_error& error) {
            fail(error.code().message(), temporary_directory().string());
        }
        if (!write_all(file->descriptor(), {reinterpret_cast<const char*>(image.data()), image.size()}))
            fail(std::strerror(errno), file->path().string());
        return file;
    }

    void* handle_ = nullptr;
    std::unique_ptr<const LockedTemporary> kept_file_;
};

struct HostKernel : LoadedKernel {
    std::string name;
    std::shared_ptr<const Module> module;
    void (*run)(const void* arguments) = nullptr;
};

void run_kernel(const HostKernel& kernel, const HostLaunch& launch) {
    try {
        run_on_host(launch);
    } catch (const DeviceFault& fault) {
        throw DeviceFault(fmt::format("{}: {}", kernel.name, fault.what()));
    }
}

struct RecordedLaunch {
    HostKernel kernel;
    HostLaunch launch;
    std::vector<std::byte> arguments;
};

using Recording = std::vector<RecordedLaunch>;

// Time of the calling thread, in which kernels run: what other programs take of the machine does not count.
double thread_time_us() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

class HostReplay : public Replay {
public:
    explicit HostReplay(Recording recording) : recording_(std::move(recording)) {}

    double run_timed() override {
        const double start = thread_time_us();
        for (RecordedLaunch& recorded : recording_) {
            recorded.launch.arguments = recorded.arguments.data();
            run_kernel(recorded.kernel, recorded.launch);
        }
        return thread_time_us() - start;
    }

private:
    Recording recording_;
};

class HostDevice : public Device {
public:
    HostDevice(HostThreadOrder order, const DeviceInfo& info) : order_(order), info_(info) {}

    const DeviceInfo& info() const override { return info_; }

    void* allocate(std::size_t bytes) override {
        if (bytes == 0) return nullptr;
        void* memory = nullptr;
        if (bytes > static_cast<std::size_t>(info_.memory_bytes) || posix_memalign(&memory, kAlignment, bytes) != 0) throw std::bad_alloc();
        // NaN in each floating-point type, so that reading before writing shows.
        if (bytes <= kFillLimit) std::memset(memory, 0xff, bytes);
        return memory;
    }
    void release(void* memory) noexcept override { free(memory); }
    void copy_to_device(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
    void copy_to_host(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
    void fill_bytes(void* memory, unsigned char value, std::size_t bytes) override {
        if (bytes) std::memset(memory, value, bytes);
    }

    std::shared_ptr<const LoadedKernel> load(const CompiledKernel& compiled, const std::string& entry) override {
        auto kernel = std::make_shared<HostKernel>();
        kernel->name = entry;
        kernel->module = std::make_shared<Module>(compiled.image);
        kernel->run = reinterpret_cast<void (*)(const void*)>(kernel->module->symbol(entry + "_host"));
        if (!kernel->run) throw UnusableImage(ExitStatus::no_device, fmt::format("the image has no kernel {}", entry));
        return kernel;
    }

    void launch(const LoadedKernel& loaded, const LaunchShape& shape, const void* arguments, std::size_t argument_bytes,
                Stream stream) override {
        const auto& kernel = static_cast<const HostKernel&>(loaded);
        const auto& [grid, threads, cluster, shared_bytes, begins_early, waits_for_blocks_before] = shape;
        if (grid < 1 || grid > kLargestGrid) throw LaunchRefused(fmt::format("a grid has 1 to {} blocks, not {}", kLargestGrid, grid));
        if (threads < 1 || threads > 1024) throw LaunchRefused(fmt::format("a block has 1 to 1024 threads, not {}", threads));
        if (cluster < 1 || cluster > info_.largest_cluster())
            throw LaunchRefused(fmt::format("a cluster has 1 to {} blocks, not {}", info_.largest_cluster(), cluster));
        if (grid % cluster != 0) throw LaunchRefused(fmt::format("{} blocks are not divided into clusters of {}", grid, cluster));
        check_shared_bytes(shared_bytes);
        const HostLaunch launch{kernel.run, arguments, grid, threads, cluster, shared_bytes, waits_for_blocks_before, order_};
        if (Recording* const recording = recording_of(stream)) {
            const auto* const bytes = static_cast<const std::byte*>(arguments);
            recording->push_back({kernel, launch, {bytes, bytes + argument_bytes}});
            return;
        }
        run_kernel(kernel, launch);
    }

    void encode_tensor_map(const TensorMapRequest& request, void* map) const override {
        check_map("address", reinterpret_cast<std::uintptr_t>(request.address));
        check_map("distance of rows", static_cast<std::uint64_t>(request.row_bytes));
        check_map("distance of matrices", static_cast<std::uint64_t>(request.matrix_bytes));
        const host::EncodedMatrix matrix{.address = static_cast<const unsigned char*>(request.address),
                                         .rows = request.rows,
                                         .columns = request.columns,
                                         .matrices = request.matrices,
                                         .row_bytes = request.row_bytes,
                                         .matrix_bytes = request.matrix_bytes,
                                         .box_rows = request.box_rows,
                                         .box_columns = request.box_columns,
                                         .element_bytes = size_of(request.type),
                                         .swizzle_bytes = request.swizzle_bytes(),
                                         .rounds_to_tf32 = request.rounds_to_tf32 ? 1 : 0};
        static_assert(sizeof matrix <= sizeof(TensorMap));
        static_assert(std::has_unique_object_representations_v<host::EncodedMatrix>);
        std::memcpy(map, &matrix, sizeof matrix);
    }
    void set_address(void* map, const void* address) const override {
        check_map("address", reinterpret_cast<std::uintptr_t>(address));
        static_assert(offsetof(host::EncodedMatrix, address) == 0);
        std::memcpy(map, &address, sizeof address);
    }
    void synchronize(Stream) override {}
    bool is_recorded(Stream stream) override { return recording_of(stream) != nullptr; }

    std::unique_ptr<Replay> record(const std::function<void(Stream)>& launches) override {
        Recording recording;
        {
            const std::lock_guard lock(mutex_);
            recordings_.push_back(&recording);
        }
        const auto forget = [&] {
            const std::lock_guard lock(mutex_);
            recordings_.erase(std::find(recordings_.begin(), recordings_.end(), &recording));
        };
        try {
            launches(&recording);
        } catch (...) {
            forget();
            throw;
        }
        forget();
        return std::make_unique<HostReplay>(std::move(recording));
    }

    DeviceState state() override { return {}; }
    int blocks_per_sm(const LoadedKernel&, int, std::int64_t) override { return 0; }

private:
    static constexpr std::int64_t kLargestGrid = 2147483647;
    static constexpr std::uint64_t kMapAlignment = 16;

    // The driver refuses other maps.
    static void check_map(const char* what, std::uint64_t value) {
        if (value % kMapAlignment != 0)
            throw LaunchRefused(fmt::format("a tensor map's {} is {:#x}, which is no multiple of {} bytes", what, value, kMapAlignment));
    }
    static void copy(void* to, const void* from, std::size_t bytes) {
        if (bytes) std::memcpy(to, from, bytes);
    }
    void check_shared_bytes(std::int64_t bytes) const {
        if (bytes < 0 || bytes > info_.shared_bytes_per_block)
            throw LaunchRefused(fmt::format("a block has up to {} bytes of shared memory, not {}", info_.shared_bytes_per_block, bytes));
    }
    // A stream is a recording while that is made; any other runs its launches at once.
    Recording* recording_of(Stream stream) {
        if (!stream) return nullptr;
        const std::lock_guard lock(mutex_);
        const auto found = std::find(recordings_.begin(), recordings_.end(), stream);
        return found == recordings_.end() ? nullptr : *found;
    }

    HostThreadOrder order_;
    DeviceInfo info_;
    std::mutex mutex_;
    std::vector<Recording*> recordings_;
};

}  // namespace

std::shared_ptr<Device> make_host_device(const std::string& thread_order) {
    return std::make_shared<HostDevice>(parse_host_thread_order(thread_order), host_device_info());
}
std::shared_ptr<Device> make_host_device_for(const DeviceInfo& device, const std::string& thread_order) {
    DeviceInfo info = host_device_info();
    info.shared_bytes_per_block = device.shared_bytes_per_block;
    info.shared_bytes_per_sm = device.shared_bytes_per_sm;
    return std::make_shared<HostDevice>(parse_host_thread_order(thread_order), info);
}
std::shared_ptr<Device> make_host_device() {
    return make_host_device(host_thread_order());
}

}  // namespace tmm
