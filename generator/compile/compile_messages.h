// The messages between a process that wants kernels and one that compiles them (tmm-tune --compiler): one JSON object a line in either
// direction.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "generator/compile/compiler.h"

namespace tmm {

// The process's first message. templates: a hash of the template files that it compiles with.
struct CompilerReady {
    std::string templates;
};

// The compiler itself failed, or is missing.
struct CompilerBroken {
    std::string message;
};

using CompileReply = std::variant<CompilerReady, CompiledKernel, CompileFailure, CompilerBroken>;

std::string encode(const KernelSource& source);
KernelSource decode_source(std::string_view line);
std::string encode(const CompileReply& reply);
// Both throw std::exception where the line makes no sense.
CompileReply decode_compile_reply(std::string_view line);

}  // namespace tmm
