// What compiles a search's kernels, and how many at once.
#pragma once

#include <cstdint>
#include <memory>

#include "generator/compile/compiler.h"

namespace tmm {

struct SearchCompiler {
    std::shared_ptr<const Compiler> compiler;
    // Compilations at once.
    int threads = 1;
};

// For a GPU: processes, one for each core that this process may use beyond those spared, as far as memory reaches.
SearchCompiler make_search_compiler(const DeviceInfo& device, int spared_cores = 0);

// Processes that so many cores and bytes of free memory are enough for; one at least. free_bytes: 0 where nobody knows.
int compile_processes(int cores, std::int64_t free_bytes);

}  // namespace tmm
