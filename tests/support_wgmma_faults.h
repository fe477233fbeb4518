// Faults in how wgmma's threads, barriers and copies meet, to be planted in its templates: each must show in results.
#pragma once

#include <vector>

#include "generator/template_files.h"
#include "tmm/config.h"
#include "tmm/problem.h"

namespace tmm::testing {

struct WgmmaFault {
    const char* what;
    const char* file;
    const char* text;
    const char* instead;
    // Without what all have in common.
    const char* config;
    const char* shape;
    // The hardware lets some pass: what is not waited for is there all the same. Of planes, ptxas puts back a wait that lacks (C7517).
    bool seen_on_gpu = true;
};

const std::vector<WgmmaFault>& wgmma_faults();

GemmProblem problem_of(const WgmmaFault& fault);
KernelConfig config_of(const WgmmaFault& fault);
// The templates with it. Throws std::logic_error where its text is in them no more.
TemplateFiles with_fault(const WgmmaFault& fault, TemplateFiles files = active_templates());
// The active templates, where sums that nothing has set are NaN instead of what the host's stack holds.
TemplateFiles templates_with_unset_sums();

}  // namespace tmm::testing
