// Products of kernels that TMA serves, on the emulated device, which does what TMA, barriers in shared memory and wgmma do as late as a
// wait allows.
#pragma once

#include <initializer_list>
#include <string>

#include "generator/kernel/template_files.h"
#include "tests/support/kernels/tma_faults.h"

namespace tmm::testing {

// Says what is wrong with products of the fault's config, by kernels from these templates; empty where nothing is.
std::string wrong_with(const TmaFault& fault, const TemplateFiles& files);

struct TmaCase {
    const char* config;
    const char* shape;
};

// Configs that go on from what all have in common are right. The quick suite takes one in `slices` of them.
void check_right(const std::string& common, std::initializer_list<TmaCase> cases, std::size_t slices);

}  // namespace tmm::testing
