// Runs a case (support_mutation_cases.h) on the emulated device, under several thread orders.
#pragma once

#include <string>

#include "generator/compile/compiler.h"
#include "tests/support/kernels/mutation_cases.h"

namespace tmm::testing {

// Thrown where a kernel does not compile.
struct CompileError {
    std::string log;
};

// Says in one line what is wrong with the result, or with memory around the matrices; empty where nothing is.
std::string run_case(const Case& one, const Compiler& compiler);

}  // namespace tmm::testing
