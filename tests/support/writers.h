// Every way in which kernels write C, as shapes and configs that the emulated device runs.
#pragma once

#include <string>
#include <vector>

namespace tmm::testing {

struct Writer {
    const char* shape;
    std::string config;
    // Planes can't hold one row of A, so that FP32 FMAs multiply in their place.
    bool unfit = false;
};

const std::vector<Writer>& writers();

}  // namespace tmm::testing
