// Signature and config, or a step's struct -> the short text that names them and instantiates one kernel.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "generator/kernel/expression.h"
#include "generator/kernel/template_files.h"
#include "generator/steps/step.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

struct KernelEntry {
    std::string name;
    // The C++ type of the kernel's only parameter, passed by value.
    std::string args_type;
};

struct KernelSource {
    // The canonical name: the same in the profiler, the database, the log and a dump file.
    std::string name;
    // The stub: a handful of lines that include the template.
    std::string text;
    std::vector<KernelEntry> entries;
    // The text holds an expression of the caller's.
    bool has_expression = false;
};

// What a kernel is known by within a process: the hash of its stub, which names all that differs while the templates stay as they are.
// Names are for people; two kernels may share one.
struct KernelIdentity {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend auto operator<=>(const KernelIdentity&, const KernelIdentity&) = default;
};
KernelIdentity identity_of(const KernelSource& source);

// The signature that a kernel is generated for: of alignments wider than the kernel's accesses nothing is kept, so that
// problems which differ in nothing else share the kernel.
KernelSignature kernel_signature(const KernelSignature& signature, const PlanKernel& kernel);

// One kernel. The entry is named "tmm_<family or step>_<types>_<ops>_…"; equal kernels have equal names. expression: the epilogue of a
// signature with Epilogue::custom; other kernels do not depend on it.
KernelSource make_kernel_source(const KernelSignature& signature, const PlanKernel& kernel, const Expression& expression = {});

// The kernels that make operands, compute references and compare results (templates/tmm/checks/verify/kernels.cuh).
KernelSource make_verify_source();

// The kernels that measure what the device can do at most (templates/tmm/checks/ceilings/kernels.cuh).
KernelSource make_ceilings_source();

// A kernel's identity in the database: a 64-bit hash, as 16 hex digits, of stub and templates with comments and white space
// folded away. The vocabulary (problem.h, signature.h, config.h) does not count: its names stand in the stub.
std::string source_hash(const KernelSource& source, const TemplateFiles& files = active_templates());

}  // namespace tmm
