// tmm-db bundle: the kernels of one GPU model's winners in a file.
#pragma once

#include <memory>
#include <vector>

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "generator/compile/compiler.h"
#include "generator/compile/kernel_cache.h"
#include "runtime/bundle/bundle.h"
#include "runtime/select/selection.h"

namespace tmm {

ExitStatus run_bundle_command(const CommandLine& line);

// Makes a bundle on a machine that need not have the GPU: by the runtime's own plans, so that what is bundled is what would run.

struct BundleContent {
    // Those of the problems, in their order; behind them those of the same with pointers of any alignment.
    std::vector<BundleEntry> entries;
    std::size_t problems = 0;
    BundleKernels kernels;
};

// Chooses and compiles for each problem what a handle on the winners' device would, but for epilogues, which all kernels apply themselves
// that can, whatever a step is predicted to take: for aligned pointers and for any, and the fallback of its types, which serves where
// memory for workspace is short or nothing else fits. Throws Error (no_compiler).
BundleContent make_bundle(const std::vector<GemmProblem>& problems, const Winners& winners, std::shared_ptr<const Compiler> compiler,
                          const KernelCache& cache);

}  // namespace tmm
