#include "generator/compile/compiler.h"

#include <chrono>
#include <mutex>
#include <optional>

namespace tmm {

std::unique_ptr<Compiler> make_compiler(const DeviceInfo& device) {
    return device.emulated ? make_host_compiler() : make_nvrtc_compiler(device.compute_capability());
}

namespace {

class DeferredCompiler : public Compiler {
public:
    explicit DeferredCompiler(const DeviceInfo& device) : device_(device) {}

    CompileResult compile(const KernelSource& source) const override { return compiler().compile(source); }
    std::string identity() const override { return compiler().identity(); }
    bool abandon() const override {
        const std::lock_guard lock(mutex_);
        return compiler_ && compiler_->abandon();
    }

private:
    const Compiler& compiler() const {
        const std::lock_guard lock(mutex_);
        if (compiler_) return *compiler_;
        if (failure_ && Clock::now() < search_again_) throw NoCompiler(*failure_);
        try {
            compiler_ = make_compiler(device_);
        } catch (const Error& error) {
            failure_.emplace(error);
            search_again_ = Clock::now() + kBetweenSearches;
            throw NoCompiler(error);
        }
        return *compiler_;
    }

    using Clock = std::chrono::steady_clock;
    // A program may ask for many products that all lack a compiler.
    static constexpr std::chrono::seconds kBetweenSearches{1};

    DeviceInfo device_;
    mutable std::mutex mutex_;
    mutable std::unique_ptr<Compiler> compiler_;
    mutable std::optional<Error> failure_;
    mutable Clock::time_point search_again_;
};

}  // namespace

std::unique_ptr<Compiler> make_deferred_compiler(const DeviceInfo& device) {
    return std::make_unique<DeferredCompiler>(device);
}

}  // namespace tmm
