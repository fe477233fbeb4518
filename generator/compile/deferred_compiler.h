// A compiler that is looked for when something must be compiled, so that whoever needs none goes without one.
#pragma once

#include <memory>

#include "base/error.h"
#include "generator/compile/compiler.h"

namespace tmm {

// The compiler itself was not found, or is none for the device; what a compiler that was found could not do is a plain Error.
class NoCompiler : public Error {
public:
    explicit NoCompiler(const Error& error) : Error(error) {}
};

// make_compiler() at the first use. Where that fails the use throws NoCompiler, and so do those of the next second; then it is tried again.
std::unique_ptr<Compiler> make_deferred_compiler(const DeviceInfo& device);

}  // namespace tmm
