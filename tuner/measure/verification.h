// Proves a plan's results on one problem: operands on the device with guard zones around them, a reference in double
// precision computed once, comparison on the device. The same operands, rotated, serve the timing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "db/store/measurement.h"
#include "runtime/plan/executable_plan.h"

namespace tmm {

struct Verdict {
    // ok, wrong_result (integers differ, a guard zone changed, an element was not written) or inaccurate (bound broken).
    Outcome outcome = Outcome::ok;
    // Worst componentwise |error| / ((c + 2) u (|alpha| |A| |B| + |beta| |C|)) on real-valued data; -1 where it was not reached. Where C
    // has 16 bits the bound has half the distance between its numbers besides. Values next to numbers of TF32 have a bound of 2^-12 |A|
    // |B|.
    double error_ratio = -1;
    // Says where and how the result differs: "C[3][17] = 4, expected 5 (integers)".
    std::string detail;
};

struct VerificationOptions {
    double alpha = 1;
    // beta is ignored where the problem does not read C.
    double beta = 1;
    std::uint64_t seed = 1;
    // Operand sets for timing are made until they span this many bytes, at most max_sets; with 0 the set of verification serves.
    std::int64_t rotation_bytes = 0;
    int max_sets = 16;
    // With AddressSanitizer, on the emulated device, a plan that reads around A or B ends there, with a report.
    bool poison_operand_zones = false;
    // Larger problems (m * n * k) are checked on sampled rows of C.
    double full_check_limit = 4096.0 * 4096.0 * 4096.0;
};

class Verifier {
public:
    // Allocates and fills the operands, computes the references. Throws std::bad_alloc where memory is short.
    Verifier(KernelLoader& loader, const GemmProblem& problem, const VerificationOptions& options = {});
    ~Verifier();
    Verifier(const Verifier&) = delete;
    Verifier& operator=(const Verifier&) = delete;

    // C is poisoned with NaN (beta = 0) or filled anew before each run. Small integers must come out bit for bit, normal
    // real values within the bound of the plan's config, and with compute = tf32 values next to numbers of TF32 as if they were these;
    // guard zones of A, B, C and the workspace must be unchanged.
    Verdict verify(const ExecutablePlan& plan);
    // Verifies with real values alone, after timing.
    Verdict verify_again(const ExecutablePlan& plan);

    // Operands for timing (normal values), with a workspace of at least workspace_bytes.
    int rotation_sets() const;
    GemmCall timing_call(int set, std::int64_t workspace_bytes);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tmm
