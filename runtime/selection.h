// Chooses the config that serves a problem: the winner of the very problem, else that of the nearest tuned one, else a guess,
// else what is always right. Every choice is explained in one sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "db/tuning_database.h"
#include "generator/device_info.h"
#include "tmm/config.h"
#include "tmm/problem.h"

namespace tmm {

enum class Match : int { exact, near, predicted, fallback };
std::string_view name_of(Match match);

struct Selection {
    KernelConfig config;
    Match match = Match::fallback;
    // One sentence, with the names that the user typed.
    std::string why;
};

// A config that won under one compute mode keeps the promise of another: f32_strict is as accurate as f32 asks; f32's
// winner serves f32_strict where its family computes by FP32 FMAs on CUDA cores; and both are more accurate than tf32 asks.
bool keeps_promise(ComputeMode asked, ComputeMode tuned, const KernelConfig& config);

// How far apart two shapes are: the sum over m, n, k and batch of |log2| of their ratio.
double doublings_apart(const GemmProblem& x, const GemmProblem& y);

// The winners of one device, in memory. Immutable, so thread-safe.
class Winners {
public:
    // A shape farther away says little about this one.
    static constexpr double kNearDoublings = 3;

    // Keeps the rows of the device's model: name, compute capability and SM count.
    Winners(std::vector<WinnerRow> rows, DeviceInfo device);

    // An exact winner that is not valid for its problem (of a damaged or foreign database) is passed over, and the sentence says so.
    Selection select(const GemmProblem& problem) const;

    const std::vector<WinnerRow>& rows() const { return rows_; }
    const DeviceInfo& device() const { return device_; }

private:
    std::vector<WinnerRow> rows_;
    DeviceInfo device_;
};

// The choice that cannot fail. because: a clause that follows "fallback: ".
Selection fallback_selection(const GemmProblem& problem, const std::string& because);

}  // namespace tmm
