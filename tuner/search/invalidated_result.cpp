#include "tuner/search/invalidated_result.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "generator/compile/compile_attempts.h"
#include "tuner/worker/worker_exit.h"

namespace tmm {
namespace {

// Fewer multiplications may all be exact by chance.
constexpr double kNeverAllExact = 4096;

std::optional<double> number_after(const std::string& text, const std::string& words) {
    const auto at = text.rfind(words);
    if (at == std::string::npos) return std::nullopt;
    return std::strtod(text.c_str() + at + words.size(), nullptr);
}

// Whether a product of normal values neither overflows nor underflows when it is multiplied by the scalar.
bool is_harmless(double scalar) {
    return scalar == 0 || (std::fabs(scalar) >= 0.5 && std::fabs(scalar) <= 2);
}

// "… (normal values, alpha 30000, beta 0)".
bool hangs_on_scalars(const std::string& detail) {
    const auto alpha = number_after(detail, "(normal values, alpha ");
    const auto beta = number_after(detail, ", beta ");
    return alpha && beta && !(is_harmless(*alpha) && is_harmless(*beta));
}

// With alpha = 0 nothing was multiplied, and no error was seen. Sums of several real values are never all without an error.
bool multiplied_nothing(const GemmProblem& p, const Measurement& m) {
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    return p.k > 1 && work >= kNeverAllExact && m.error_ratio == 0;
}

// "its workspace of 4096 bytes does not fit in the device's memory", while others may have held that.
bool hangs_on_free_memory(const std::string& detail) {
    return detail.find("does not fit in the device's memory") != std::string::npos;
}

// "quarantined: announced 2 times without a result", by a tuner that somebody killed.
bool hangs_on_a_killed_tuner(const std::string& detail) {
    return detail.starts_with("quarantined: announced ");
}

}  // namespace

bool is_invalidated(const GemmProblem& problem, const Measurement& measurement) {
    switch (measurement.outcome) {
        case Outcome::wrong_result:
        case Outcome::inaccurate: return hangs_on_scalars(measurement.detail);
        case Outcome::compile_failed: return !blames_source(measurement.detail);
        case Outcome::crashed: return names_outside_signal(measurement.detail) || hangs_on_a_killed_tuner(measurement.detail);
        case Outcome::exceeds_limits: return hangs_on_free_memory(measurement.detail);
        case Outcome::ok: return multiplied_nothing(problem, measurement);
        default: return false;
    }
}

}  // namespace tmm
