// What the tuner asks of the compiler that works ahead of the device, and what its reports say of a candidate before it runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/store/measurement.h"
#include "generator/kernel/kernel_source.h"
#include "generator/machine/device_info.h"
#include "tuner/search/candidates.h"

namespace tmm {

// All functions are thread-safe. Lower ranks come first, equal ones in order of their request; a kernel that several have asked for has the
// best of its ranks.
class CompileQueue {
public:
    struct Result {
        int registers = -1;
        int spill_bytes = -1;
        // The first line of the log that tells of an error, where the kernel does not compile.
        std::optional<std::string> failure = {};
    };

    virtual ~CompileQueue() = default;

    // What a problem has asked for keeps its rank until it is dropped.
    virtual void request(const KernelSource& source, int problem, int rank) = 0;
    // Takes the problem's requests back. Kernels that nobody else has asked for, and nobody has begun to compile, are forgotten.
    virtual void drop(int problem) = 0;
    // Returns nothing while the kernel is not compiled yet. Rethrows what broke the compiler itself (not the kernel).
    virtual std::optional<Result> result(const KernelIdentity& kernel) const = 0;
    // Waits at most so many seconds until another kernel than the first `seen` is done; returns how many are.
    virtual int wait_for_more(int seen, double seconds) const = 0;
};

// What the candidate's kernels came to, one by one; those that are not compiled yet as if nothing were known of them.
std::vector<CompileQueue::Result> results_of(const CompileQueue& compiler, const Candidate& candidate);
bool is_compiled(const CompileQueue& compiler, const Candidate& candidate);

// The outcome of a candidate that need not run. kernels: a report for each of its kernels. Spills count from the kernel that multiplies on:
// the kernels that copy operands before it have the same text for all candidates that copy them, and show in their times. The default
// config is what an untuned call runs, so it is measured whatever it spills.
std::optional<Measurement> rejection(const Candidate& candidate, const std::vector<CompileQueue::Result>& kernels, const DeviceInfo& device,
                                     bool is_default);

}  // namespace tmm
