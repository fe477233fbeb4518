// Chooses the config that serves a problem: the winner of the very problem, else its winner on another card of the same architecture, else
// what is likely to be the fastest of all that was measured for the nearest tuned ones, else the nearest one's winner where it is predicted
// to be fast here, too, else a guess, else what is always right. Where workspace is bounded and a problem's winner needs more, the fastest
// of its measured candidates takes its place. Every choice is explained in one sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/machine/device_info.h"
#include "generator/plan/launch_plan.h"
#include "generator/problem/problem_forms.h"
#include "runtime/select/neighbour_measurements.h"
#include "runtime/select/other_device_models.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

enum class Match : int { exact, near, predicted, fallback };
std::string_view name_of(Match match);

struct Selection {
    KernelConfig config;
    Match match = Match::fallback;
    // One sentence, with the names that the user typed.
    std::string why;
    // Microseconds that this very config took for this very problem; 0 where it was not measured.
    double measured_us = 0;
    // What the library that a program called took beside it; 0 where they did not race.
    double library_us = 0;
};

// Measured times that differ by no more than this count as equal.
inline constexpr double kTie = 0.01;

// A config that won under one compute mode keeps the promise of another: f32_strict is as accurate as f32 asks; f32's
// winner serves f32_strict where its family computes by FP32 FMAs on CUDA cores; and both are more accurate than tf32 asks.
bool keeps_promise(ComputeMode asked, ComputeMode tuned, const KernelConfig& config);

// What a problem's config becomes where it serves another one on the device; nothing where it can't, or the two have too little in common.
std::optional<KernelConfig> config_for(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config,
                                       const DeviceInfo& device);

// How far apart two shapes are: the sum over m, n, k and batch of |log2| of their ratio.
double doublings_apart(const GemmProblem& x, const GemmProblem& y);

// The winners of one device, in memory. Immutable, so thread-safe.
class Winners {
public:
    // A shape farther away says little about this one.
    static constexpr double kNearDoublings = 3;

    // Rows are the device's own where name, compute capability and SM count agree, and another card's where the compute capability does.
    // candidates may be empty; it is asked where an exact winner needs more workspace than it may, and for the problems that are near one
    // without a winner. more may be empty; it is asked once for other cards' rows, where the device's own do not decide.
    Winners(const std::vector<WinnerRow>& rows, DeviceInfo device, CandidateSource candidates = {}, WinnerSource more = {});

    // A config that needs at most so many bytes of workspace; where none is known, the fallback, which may need more for the sums of a
    // gate. An exact winner that needs more, or is not valid for its problem (because the database is damaged or foreign), is passed over,
    // and the sentence says so.
    Selection select(const GemmProblem& problem, std::int64_t most_workspace = kAnyWorkspace) const;

    // The winner of the very problem that select() takes where workspace is not bounded; null where there is none.
    const WinnerRow* exact_winner(const GemmProblem& problem) const;

    const DeviceInfo& device() const { return device_; }

private:
    using Tuned = TunedProblem;

    bool may_serve(const GemmProblem& problem, const Tuned& tuned) const;
    bool fits(const GemmProblem& problem, const KernelConfig& config, std::int64_t most_workspace) const;
    // The winner is null where there is none. The last reason why one can't serve goes to passed_over.
    const Tuned* find_exact(const GemmProblem& problem, std::int64_t most_workspace, std::string& passed_over) const;
    struct NearProblem {
        const Tuned* tuned = nullptr;
        // In doublings, with what else differs.
        double apart = 0;
    };
    // The tuned problems that are near, the nearest first.
    std::vector<NearProblem> near_problems(const GemmProblem& problem, const std::vector<Tuned>& all) const;
    // A winner, and its config as it serves another problem.
    struct NearWinner {
        const Tuned* tuned = nullptr;
        KernelConfig config;
    };
    // A near problem's winner as it serves this one; the result has no winner where it can't.
    NearWinner serving(const GemmProblem& problem, const NearProblem& near, std::int64_t most_workspace) const;
    // The nearest that may be taken, of the first few that can serve. The result has no winner where there is none.
    NearWinner nearest_winner(const GemmProblem& problem, const std::vector<NearProblem>& near, std::int64_t most_workspace,
                              const std::function<bool(const NearWinner&)>& may_be_taken = {}) const;
    // What is likely to be the fastest of all that was measured for the nearest problems; nothing where the guess is likelier, or nothing
    // was measured.
    std::optional<Selection> select_measured(const GemmProblem& problem, const std::vector<NearProblem>& near,
                                             const std::optional<KernelConfig>& guess, std::int64_t most_workspace, const std::string& own,
                                             const std::string& within) const;
    // can_read: becomes false where candidates can't be read. One selection then asks for no more, since each time may take as long as the
    // database's patience.
    std::optional<MeasuredCandidate> fastest_candidate(const GemmProblem& problem, const Tuned& tuned, std::int64_t most_workspace,
                                                       bool& can_read) const;
    // The winner that other cards have of the very product, where their profiles say that it carries over.
    NearWinner carried_winner(const GemmProblem& problem, const std::vector<NearProblem>& others, const std::optional<KernelConfig>& guess,
                              std::int64_t most_workspace) const;
    // own: says why the problem's own winner does not serve; within: how much workspace is allowed.
    Selection near_selection(const GemmProblem& problem, const NearWinner& nearest, const std::string& own,
                             const std::string& within) const;
    // The choice where a winner of the very problem was found.
    std::optional<Selection> select_exact(const GemmProblem& problem, std::int64_t most_workspace, std::string& passed_over,
                                          bool& can_read) const;

    struct Hash {
        std::size_t operator()(const GemmProblem& problem) const { return static_cast<std::size_t>(hash_of(problem)); }
    };

    std::vector<Tuned> tuned_;
    // The places in tuned_ of each problem, whatever its compute mode.
    std::unordered_map<GemmProblem, std::vector<std::size_t>, Hash> places_;
    DeviceInfo device_;
    CandidateSource candidates_;
    // Shared so that winners can be moved.
    std::shared_ptr<NeighbourMeasurementsBook> neighbour_measurements_;
    std::shared_ptr<const OtherDeviceModels> others_;
};

// The choice that cannot fail, but for workspace: it needs some for the sums of a gate. because: a clause that follows "fallback: ".
Selection fallback_selection(const std::string& because);

}  // namespace tmm
