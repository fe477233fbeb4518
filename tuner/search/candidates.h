// The candidates of a problem with all that the tuner must know of their kernels before they run: source, hash, launch needs.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/store/measurement.h"
#include "generator/choice/search_space.h"
#include "generator/compile/kernel_book.h"
#include "tuner/options/tuning_options.h"

namespace tmm {

inline constexpr int kOutsideSearch = std::numeric_limits<int>::max();

struct Candidate {
    KernelConfig config;
    // The names and hashes of every step's kernel, joined by '+', as Measurement has them.
    std::string kernel_name;
    std::string kernel_hash;
    // The kernels, one per step.
    std::vector<const PlannedKernel*> kernels;
    // Index of the kernel that multiplies.
    std::size_t main_kernel = 0;
    std::vector<int> threads;
    std::int64_t shared_bytes = 0;
    std::int64_t workspace_bytes = 0;
    // Place in the order of the search, by which ties are settled: those of other origins come last.
    int order = kOutsideSearch;
};

// The configs of a search that are not among its candidates.
struct Remainder {
    // Candidates beyond the number that was asked for.
    std::size_t left_out = 0;
    std::map<std::string, int> rejections = {};
};

inline constexpr std::size_t kAllCandidates = std::numeric_limits<std::size_t>::max();

// Makes at most `most` candidates of a search, the best guess first.
std::vector<Candidate> make_candidates(const GemmProblem& problem, Effort effort, const DeviceInfo& device, KernelBook& book,
                                       std::size_t most, Remainder* remainder = nullptr);

// Gives the candidates the order in which they stand.
void number(std::vector<Candidate>& candidates);

// Candidates to make for a turn: several times as many as it has time for, so that the times of the first may change the order;
// kAllCandidates where the turn has no limit.
std::size_t most_candidates(const Turn& turn);

// "no kernel serves it: …"; empty where one does.
std::string why_unserved(const GemmProblem& problem, const DeviceInfo& device);

Candidate make_candidate(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device, KernelBook& book);

// Names the set of candidates and the effort it belongs to ("normal:0123456789abcdef").
std::string search_hash(Effort effort, const std::vector<Candidate>& candidates);
// The effort that a search hash was made for; nothing where it is not one.
std::optional<Effort> effort_of(const std::string& search_hash);

// Whether a candidate has a time of correct results.
bool passed(const std::optional<Measurement>& result);
// The places of those that passed, the fastest first.
std::vector<std::size_t> fastest_first(const std::vector<std::optional<Measurement>>& results);

std::string_view name_of(Effort effort);
// Throws Error (usage).
Effort parse_effort(std::string_view text);

}  // namespace tmm
