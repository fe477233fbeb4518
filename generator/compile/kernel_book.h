// The kernels of launch plans with their sources and hashes, each made once.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "generator/kernel/kernel_source.h"
#include "generator/plan/launch_plan.h"

namespace tmm {

struct PlannedKernel {
    KernelSource source;
    KernelIdentity identity;
    // source_hash() of the source.
    std::string hash;
};

// Kernels by identity: configs of many problems share them, and source_hash() flattens all their templates. Thread-safe; the entries stay
// where they are.
class KernelBook {
public:
    const PlannedKernel& kernel(const LaunchStep& step);

private:
    std::mutex mutex_;
    std::map<KernelIdentity, PlannedKernel> kernels_;
};

// The hashes of every step's kernel, joined by '+', as Measurement has them.
std::string kernel_hash(const LaunchPlan& plan, KernelBook& book);

}  // namespace tmm
