// NVRTC in processes of a program that foreign code runs in: each kernel is compiled by a process of tmm-tune. The caller's process keeps
// no descriptor open meanwhile, which the program could close or inherit: source and answer are files.
#pragma once

#include <memory>
#include <string>

#include "generator/compile/compiler.h"

namespace tmm {

// program: the file of tmm-tune. Its processes have a low priority, and end with this one where that ends by exit(). Where none can be
// started, or it has other templates, this process compiles. Throws Error (no_compiler) where NVRTC is not found.
std::unique_ptr<Compiler> make_tool_compiler(int compute_capability, const std::string& program);

}  // namespace tmm
