// The names of outcomes, and the work that times are compared with.
#include "db/store/measurement.h"

#include <cstddef>

namespace tmm {

std::string_view name_of(Outcome outcome) {
    static constexpr std::string_view kNames[] = {"ok",      "compile_failed", "exceeds_limits", "spills",    "launch_failed",
                                                  "crashed", "timed_out",      "wrong_result",   "inaccurate"};
    const auto index = static_cast<std::size_t>(outcome);
    return index < std::size(kNames) ? kNames[index] : "?";
}

double flops(const GemmProblem& problem) {
    return 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) * static_cast<double>(problem.k) *
           static_cast<double>(problem.batch);
}

}  // namespace tmm
