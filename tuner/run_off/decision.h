// Decides which config wins a run-off, and makes the sentence that says why.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "db/store/measurement.h"

namespace tmm {

struct Finalist {
    KernelConfig config;
    // Place in the search order, which settles ties.
    int order = 0;
    bool is_default = false;
    // Samples in microseconds, one a round; one that was out before the last round has fewer.
    std::vector<double> samples_us;
};

struct RunOffResult {
    // Index among the finalists.
    int winner = 0;
    double median_us = 0;
    // The default's median; 0 where it did not race.
    double default_us = 0;
    // The fastest of the others, by its median; -1 where there is none.
    int runner_up = -1;
    double runner_up_us = 0;
    // The finalists' medians, as they were compared.
    std::vector<double> medians_us;
    // "beat family=… by 3.1%".
    std::string verdict;
};

// Median over the rounds of a's time over b's.
double paired_ratio(const std::vector<double>& a, const std::vector<double>& b);

// A finalist that is within 1% of the fastest ties with it if it was as fast in this share of the rounds. A smaller difference that nearly
// all rounds agree on counts as a difference: of 329 winners 134 stood within 1% of the fastest, some of them slower by 0.9%.
inline constexpr double kRoundsOfTie = 0.25;

// Medians and paired ratios decide; of those that tie with the fastest the first in the search order wins; a winner is never
// slower than the default. One that was out early does not win, unless it is the default; its time is compared in its own rounds. At least
// one finalist, all with at least one sample.
RunOffResult judge_run_off(const std::vector<Finalist>& finalists);

// "212 candidates measured, 3 failed: 2 spills, 1 wrong_result".
std::string tally(int measured, const std::map<Outcome, int>& failed);

// "; 6169 configs rejected before: 4210 not among the best predictions, 1500 …, 459 for 12 other reasons"; empty where there are none.
std::string rejected_text(const std::map<std::string, int>& rejections);

// Reasons and how often each was given, the most frequent first.
std::vector<std::pair<std::string, int>> by_count(const std::map<std::string, int>& reasons);

}  // namespace tmm
