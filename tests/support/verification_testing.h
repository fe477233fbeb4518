// What the tests of the judge of all kernels share: problems, kernels, and faults that are planted behind them.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/text/shapes_file.h"
#include "runtime/emulation/host_device.h"
#include "tuner/measure/verification.h"

namespace verification_testing {

using namespace tmm;

// A planted fault changes memory after a kernel of a plan has run.
using Fault = std::function<void(const GemmArgs&)>;

struct NamedKernel final : LoadedKernel {
    std::shared_ptr<const LoadedKernel> kernel;
    bool of_plan = false;
};

// The emulated device, on which kernels of plans (not those that verify) are followed by a fault, and tensor maps may be changed.
class FaultyDevice final : public Device {
public:
    explicit FaultyDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    Fault fault;
    std::function<void(TensorMapRequest&)> change_map;

    const DeviceInfo& info() const override { return device_->info(); }
    void* allocate(std::size_t bytes) override { return device_->allocate(bytes); }
    void release(void* memory) noexcept override { device_->release(memory); }
    void copy_to_device(void* to, const void* from, std::size_t bytes) override { device_->copy_to_device(to, from, bytes); }
    void copy_to_host(void* to, const void* from, std::size_t bytes) override { device_->copy_to_host(to, from, bytes); }
    void fill_bytes(void* memory, unsigned char value, std::size_t bytes) override { device_->fill_bytes(memory, value, bytes); }
    std::shared_ptr<const LoadedKernel> load(const CompiledKernel& kernel, const std::string& entry) override {
        auto named = std::make_shared<NamedKernel>();
        named->kernel = device_->load(kernel, entry);
        named->of_plan = !entry.starts_with("tmm_verify");
        return named;
    }
    void launch(const LoadedKernel& kernel, const LaunchShape& shape, const void* arguments, std::size_t argument_bytes,
                Stream stream) override {
        const auto& named = static_cast<const NamedKernel&>(kernel);
        device_->launch(*named.kernel, shape, arguments, argument_bytes, stream);
        if (named.of_plan && fault) fault(*static_cast<const GemmArgs*>(arguments));
    }
    void encode_tensor_map(const TensorMapRequest& request, void* map) const override {
        TensorMapRequest changed = request;
        if (change_map) change_map(changed);
        device_->encode_tensor_map(changed, map);
    }
    void set_address(void* map, const void* address) const override { device_->set_address(map, address); }
    void synchronize(Stream stream) override { device_->synchronize(stream); }
    std::unique_ptr<Replay> record(const std::function<void(Stream)>& launches) override { return device_->record(launches); }
    DeviceState state() override { return device_->state(); }
    int blocks_per_sm(const LoadedKernel& kernel, int threads, std::int64_t shared_bytes) override {
        return device_->blocks_per_sm(*static_cast<const NamedKernel&>(kernel).kernel, threads, shared_bytes);
    }

private:
    std::shared_ptr<Device> device_;
};

// The kernels are compiled once for all cases.
struct Bench {
    Bench() {
        directory = std::filesystem::temp_directory_path() / fmt::format("tmm-test-verification-{}", getpid());
        device = std::make_shared<FaultyDevice>(make_host_device("ascending"));
        loader = std::make_unique<KernelLoader>(device, make_host_compiler(), KernelCache(directory));
    }
    ~Bench() {
        loader.reset();
        std::error_code ignored;
        std::filesystem::remove_all(directory, ignored);
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    ExecutablePlan plan(const GemmProblem& problem, const KernelConfig& config) {
        if (const auto reason = why_invalid(problem, config, device->info())) FAIL(*reason);
        auto made = ExecutablePlan::make(make_launch_plan(problem, config, device->info()), *loader);
        if (const auto* failure = std::get_if<CompileFailure>(&made)) FAIL(failure->log);
        return std::get<ExecutablePlan>(std::move(made));
    }
    ExecutablePlan plan(const GemmProblem& problem) { return plan(problem, fallback_config()); }
    // The verifier's verdict on the fallback kernel followed by the fault.
    Verdict verdict(const GemmProblem& problem, const Fault& fault, const VerificationOptions& options = {}) {
        const ExecutablePlan executable = plan(problem);
        Verifier verifier(*loader, problem, options);
        device->fault = fault;
        Verdict result = verifier.verify(executable);
        device->fault = nullptr;
        return result;
    }

    std::filesystem::path directory;
    std::shared_ptr<FaultyDevice> device;
    std::unique_ptr<KernelLoader> loader;
};

inline Bench& bench() {
    static Bench instance;
    return instance;
}

inline GemmProblem problem_of(const std::string& text) {
    return parse_shape(text).problem;
}

inline float* element(const GemmArgs& args, i64 row, i64 column) {
    return static_cast<float*>(args.c) + row * args.ldc + column;
}
// The same element where C has 16 bits.
inline std::uint16_t* half_element(const GemmArgs& args, i64 row, i64 column) {
    return static_cast<std::uint16_t*>(args.c) + row * args.ldc + column;
}
inline float bf16_value(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace verification_testing
