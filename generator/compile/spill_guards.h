// Looks in machine code for a fault of NVIDIA's assembler (seen in ptxas 12.0 to 13.3; 13.4 is free of it). Where an instruction that only
// runs under a predicate makes a value that spills, the store of the spill runs under the same predicate. The assembler takes that
// predicate for dead once the instruction has run, and may give its register to another, such as the carry of that very instruction:
//
//   @P5 LEA R172, P5, R169, R172, 0x6       R172 = R172 + R169 * 64, P5 = its carry
//   @P5 STL [R1+0xa8], R172                 is left out unless there was a carry
//
// The value that is read back is then an older one.
#pragma once

#include <cstddef>
#include <vector>

#include "generator/compile/compiler.h"

namespace tmm {

// Whether a cubin of compute capability 7.0 or later has a store to a thread's own memory whose predicate was overwritten after, or by, the
// instruction that made the value under that predicate. What is no cubin has none.
bool has_overwritten_spill_guard(const std::vector<std::byte>& image);

// The same of a compiled kernel, which is looked through only where it is known to spill.
bool spills_wrongly(const CompiledKernel& kernel);

}  // namespace tmm
