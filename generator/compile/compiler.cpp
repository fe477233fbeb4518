#include "generator/compile/compiler.h"

#include "generator/compile/tool_compiler.h"

namespace tmm {

std::unique_ptr<Compiler> make_compiler(const DeviceInfo& device) {
    return device.emulated ? make_host_compiler() : make_nvrtc_compiler(device.compute_capability());
}

void DeferredCompiler::use_tool(const std::string& program) {
    const std::lock_guard lock(mutex_);
    tool_ = program;
    compiler_ = nullptr;
}

CompileResult DeferredCompiler::compile(const KernelSource& source) const {
    return compiler()->compile(source);
}

std::string DeferredCompiler::identity() const {
    return compiler()->identity();
}

bool DeferredCompiler::abandon() const {
    const std::lock_guard lock(mutex_);
    return compiler_ && compiler_->abandon();
}

std::shared_ptr<const Compiler> DeferredCompiler::compiler() const {
    // A program may ask for many products that all lack a compiler.
    constexpr std::chrono::seconds kBetweenSearches{1};
    const std::lock_guard lock(mutex_);
    if (compiler_) return compiler_;
    if (failure_ && Clock::now() < search_again_) throw NoCompiler(*failure_);
    try {
        const bool by_tool = !tool_.empty() && !device_.emulated;
        compiler_ = by_tool ? make_tool_compiler(device_.compute_capability(), tool_) : make_compiler(device_);
    } catch (const Error& error) {
        failure_.emplace(error);
        search_again_ = Clock::now() + kBetweenSearches;
        throw NoCompiler(error);
    }
    return compiler_;
}

}  // namespace tmm
