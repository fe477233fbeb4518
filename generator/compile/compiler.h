// KernelSource -> machine code, or the compiler's log.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "generator/kernel/kernel_source.h"
#include "generator/machine/device_info.h"

namespace tmm {

struct NvrtcLibrary;  // generator/compile/nvrtc_library.h

struct CompiledKernel {
    // A cubin (PTX text where the GPU is newer than NVRTC knows); a shared object for the emulated device.
    std::vector<std::byte> image;
    // The largest values among its entries; -1 where the compiler does not say.
    int registers = -1;
    int spill_bytes = -1;
    // Warnings and remarks of the compiler.
    std::string log;
};

struct CompileFailure {
    std::string log;
};

using CompileResult = std::variant<CompiledKernel, CompileFailure>;

// Thread-safe: many threads may compile at once.
class Compiler {
public:
    virtual ~Compiler() = default;
    virtual CompileResult compile(const KernelSource& source) const = 0;
    // All that the result depends on besides the source and the templates that it includes: compiler, version, options, architecture, and
    // for the emulated device the text of templates/host. It is a part of the cache's key.
    virtual std::string identity() const = 0;
    // Ends what is being compiled at this moment: it fails, soon. The result is false where that can't be done.
    virtual bool abandon() const { return false; }
};

// NVRTC for the device's architecture. Throws Error (no_compiler) where libnvrtc is not found.
std::unique_ptr<Compiler> make_nvrtc_compiler(int compute_capability);
// The same with other templates than the active ones; not for a KernelCache that others use, whose keys know the active ones only.
std::unique_ptr<Compiler> make_nvrtc_compiler(int compute_capability, const TemplateFiles& files);
// The same by an NVRTC of the caller's, which outlives the compiler.
std::unique_ptr<Compiler> make_nvrtc_compiler(const NvrtcLibrary& library, int compute_capability);
// The system's C++ compiler, for the emulated device. Throws Error (no_compiler) where there is none.
std::unique_ptr<Compiler> make_host_compiler();
// The same with other templates than the active ones; not for a KernelCache, whose keys know the active ones only.
std::unique_ptr<Compiler> make_host_compiler(const TemplateFiles& files);
// The CPU that this process has code for the emulated device made for: its architecture and the options that name its instructions, tmm's
// own and those of TMM_CXX ("x86_64 -mfma -mavx2").
std::string host_cpu();
// What that code depends on besides templates and compiler: the CPU, all other options and the emulation's version.
std::string host_code_kind();
std::unique_ptr<Compiler> make_compiler(const DeviceInfo& device);

// NVRTC's version as major * 1000 + minor * 10; 0 where libnvrtc is not found. Never throws.
int nvrtc_version();
// PTX text of a kernel, for people to read. Throws Error with the log where it does not compile.
std::string compile_to_ptx(const KernelSource& source, int compute_capability);

// A compiler that is looked for when something must be compiled, so that whoever needs none goes without one.

// The compiler itself was not found, or is none for the device; what a compiler that was found could not do is a plain Error.
class NoCompiler : public Error {
public:
    explicit NoCompiler(const Error& error) : Error(error) {}
};

// make_compiler() at the first use. Where that fails the use throws NoCompiler, and so do those of the next second; then it is tried again.
class DeferredCompiler : public Compiler {
public:
    explicit DeferredCompiler(const DeviceInfo& device) : device_(device) {}

    // From now on processes of the program compile (tool_compiler.h); empty: this process does.
    void use_tool(const std::string& program);

    CompileResult compile(const KernelSource& source) const override;
    std::string identity() const override;
    bool abandon() const override;

private:
    using Clock = std::chrono::steady_clock;

    std::shared_ptr<const Compiler> compiler() const;

    DeviceInfo device_;
    std::string tool_;
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const Compiler> compiler_;
    mutable std::optional<Error> failure_;
    mutable Clock::time_point search_again_;
};

}  // namespace tmm
