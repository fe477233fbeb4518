// The kernels that planted faults (support_mutations.h) are tried on: for each template configs and sizes that use all of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "generator/machine/device_info.h"
#include "tests/support/kernels/mutations.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm::testing {

// Kernels to try a fault on: sizes that meet the tiles' edges in every way.
struct Case {
    const char* name;
    Operation op_a = Operation::none;
    Operation op_b = Operation::none;
    i64 batch = 1;
    int alignment = 4;
    bool reads_c = false;
    KernelConfig config;
    struct Size {
        i64 m, n, k;
    };
    std::vector<Size> sizes;
    // Blocks of the steps around the product, fewer than they would get, so that each takes several turns; 0: as many as they get.
    i64 side_grid = 0;
    // The types of A and B, and of C.
    ElementType type = ElementType::f32;
    ElementType type_c = ElementType::f32;
    Result result = Result::full;
    bool pointers = false;
};

// The cases by template, "tmm/families/tiled/kernel.cuh".
const std::map<std::string, std::vector<Case>>& cases();
// A fault in what several families share is tried on kernels that use it in different ways.
std::vector<Case> cases_for(const Mutation& mutation);

GemmProblem problem_of(const Case& one, const Case::Size& size);
// A device on which the config could serve: the emulated device, or, for the sake of the steps before wgmma's, one that has it.
DeviceInfo device_of(const Case& one);

}  // namespace tmm::testing
