// Faults in how the threads, barriers and copies of kernels that TMA serves meet, to be planted in their templates: each must show in
// results.
#pragma once

#include <vector>

#include "generator/template_files.h"
#include "tmm/config.h"
#include "tmm/problem.h"

namespace tmm::testing {

struct TmaFault {
    const char* what;
    const char* file;
    const char* text;
    const char* instead;
    // Of wgmma without what all have in common; of others whole.
    const char* config;
    const char* shape;
    // The hardware lets some pass: what is not waited for is there all the same. Of planes, ptxas puts back a wait that lacks (C7517).
    bool seen_on_gpu = true;
    // The emulated device runs blocks one after the other: what one waits for of those before it is there.
    bool seen_emulated = true;
};

const std::vector<TmaFault>& tma_faults();

GemmProblem problem_of(const TmaFault& fault);
KernelConfig config_of(const TmaFault& fault);
// The templates with it. Throws std::logic_error where its text is in them no more.
TemplateFiles with_fault(const TmaFault& fault, TemplateFiles files = active_templates());
// The active templates, where sums that nothing has set are NaN instead of what the host's stack holds.
TemplateFiles templates_with_unset_sums();

}  // namespace tmm::testing
