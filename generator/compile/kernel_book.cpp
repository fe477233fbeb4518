#include "generator/compile/kernel_book.h"

#include <utility>

namespace tmm {

const PlannedKernel& KernelBook::kernel(const LaunchStep& step) {
    KernelSource source = make_kernel_source(step.signature, step.kernel);
    const KernelIdentity identity = identity_of(source);
    {
        const std::lock_guard lock(mutex_);
        const auto known = kernels_.find(identity);
        if (known != kernels_.end()) return known->second;
    }
    std::string hash = source_hash(source);
    const std::lock_guard lock(mutex_);
    return kernels_.emplace(identity, PlannedKernel{.source = std::move(source), .identity = identity, .hash = std::move(hash)})
        .first->second;
}

std::string kernel_hash(const LaunchPlan& plan, KernelBook& book) {
    std::string hash;
    for (const LaunchStep& step : plan.steps) hash += (hash.empty() ? "" : "+") + book.kernel(step).hash;
    return hash;
}

}  // namespace tmm
