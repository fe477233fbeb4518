// Faults in how the threads, barriers and copies of kernels that TMA serves meet, to be planted in their templates: each must show in
// results.
#pragma once

#include <vector>

#include "generator/kernel/template_files.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm::testing {

struct TmaFault {
    const char* what;
    const char* file;
    const char* text;
    const char* instead;
    // A config of wgmma without the fields that all of them have in common, or the whole config of another family.
    const char* config;
    const char* shape;
    // The hardware hides some faults: data that is not waited for is there all the same. With planes, ptxas puts back a missing wait
    // (C7517).
    bool seen_on_gpu = true;
    // The emulated device runs thread blocks one after the other: what a block waits for from those before it is there.
    bool seen_emulated = true;
};

const std::vector<TmaFault>& tma_faults();

GemmProblem problem_of(const TmaFault& fault);
KernelConfig config_of(const TmaFault& fault);
// The templates with the fault. Throws std::logic_error where they no longer contain its text.
TemplateFiles with_fault(const TmaFault& fault, TemplateFiles files = active_templates());
// The active templates, where sums that nothing has set are NaN instead of what the host's stack holds.
TemplateFiles templates_with_unset_sums();

}  // namespace tmm::testing
