// Compiled kernels on disk: per user, safe for many processes at once, bounded in size, rebuilt when damaged.
// A kernel is found by a hash of its flattened source and of the compiler's identity: version, options, architecture.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "generator/compile/compiler.h"

namespace tmm {

// Thread-safe.
class KernelCache {
public:
    static constexpr std::int64_t kDefaultLimit = 512LL << 20;
    // How long find_or_compile() waits for another process that compiles the kernel already.
    static constexpr std::chrono::milliseconds kDefaultPatience{60'000};

    // Makes the directory (mode 0700) when something is first compiled. A directory that others may write to, or that can't be
    // made, is not used: every find() then misses, store() does nothing, and the log says so once.
    explicit KernelCache(std::filesystem::path directory, std::int64_t limit_bytes = kDefaultLimit,
                         std::chrono::milliseconds patience = kDefaultPatience);

    std::optional<CompiledKernel> find(const KernelSource& source, const Compiler& compiler) const;
    // A kernel is published by rename; failure to store is not an error, and the result is false. An empty image is not stored.
    bool store(const KernelSource& source, const Compiler& compiler, const CompiledKernel& kernel) const;
    // One of the processes and threads that need a kernel at once compiles it, and the others wait for it.
    CompileResult find_or_compile(const KernelSource& source, const Compiler& compiler) const;
    // Replaces what is stored, where that turned out to be of no use.
    CompileResult compile_and_store(const KernelSource& source, const Compiler& compiler) const;

private:
    struct State;

    CompileResult compile_and_store(const KernelSource& source, const Compiler& compiler, bool& is_stored) const;

    std::filesystem::path directory_;
    std::int64_t limit_bytes_;
    std::chrono::milliseconds patience_;
    // Copies of a cache share what they know of the directory.
    std::shared_ptr<State> state_;
};

}  // namespace tmm
