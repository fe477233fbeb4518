// Tests which candidates a quick search takes where there are times of them.
#include <doctest/doctest.h>

#include "db/store/verified_times.h"
#include "tuner/search/measured_order.h"

namespace {

tmm::KernelConfig config(int block_m) {
    return {.family = tmm::family::simt, .block_m = block_m};
}
tmm::Candidate candidate(int block_m) {
    tmm::Candidate made;
    made.config = config(block_m);
    made.kernel_hash = "today";
    return made;
}
tmm::MeasuredCandidate row(int block_m, double median_us, const char* hash = "earlier", tmm::Outcome outcome = tmm::Outcome::ok) {
    tmm::MeasuredCandidate made;
    made.config = config(block_m);
    made.measurement.outcome = outcome;
    made.measurement.median_us = median_us;
    made.measurement.kernel_hash = hash;
    return made;
}

const std::vector<tmm::Candidate> kCandidates{candidate(1), candidate(2), candidate(3), candidate(4), candidate(5), candidate(6)};

// The block_m of the candidates that are chosen from kCandidates, where the first `count` are predicted to be fast.
std::vector<int> chosen(const std::vector<tmm::MeasuredCandidate>& rows, std::ptrdiff_t count) {
    const std::vector<tmm::Candidate> predicted(kCandidates.begin(), kCandidates.begin() + count);
    std::vector<int> blocks;
    for (const tmm::Candidate& one : tmm::fastest_measured(predicted, kCandidates, rows)) blocks.push_back(one.config.block_m);
    return blocks;
}
using List = std::vector<int>;

}  // namespace

TEST_CASE("the default config and the fastest are taken, in the candidates' order") {
    CHECK(chosen({row(2, 30), row(3, 10), row(5, 20), row(6, 5), row(1, 99)}, 3) == List{1, 3, 6});
    CHECK(chosen({row(2, 30), row(3, 10)}, 6) == List{1, 2, 3, 4, 5, 6});
}

TEST_CASE("where too few have a time, the foremost others follow") {
    CHECK(chosen({row(6, 5)}, 3) == List{1, 2, 6});
    CHECK(chosen({row(6, 5, "earlier", tmm::Outcome::crashed), row(9, 1)}, 3) == List{1, 2, 3});
}

TEST_CASE("what today's kernels take changes nothing where an earlier text of them was measured") {
    const std::vector<tmm::MeasuredCandidate> earlier{row(4, 10), row(5, 20), row(6, 30)};
    CHECK(chosen(earlier, 3) == List{1, 4, 5});
    std::vector<tmm::MeasuredCandidate> later{row(4, 50, "today"), row(5, 60, "today")};
    later.insert(later.end(), earlier.begin(), earlier.end());
    CHECK(chosen(later, 3) == List{1, 4, 5});
    // Rows come newest first: the newest earlier text counts.
    CHECK(chosen({row(6, 1, "before"), row(4, 10), row(5, 20), row(6, 30)}, 3) == List{1, 4, 6});
}

TEST_CASE("a config's times are taken for those with the other overlap, where it has none of its own") {
    std::vector<tmm::Candidate> all = kCandidates;
    for (tmm::Candidate& one : all) one.config.overlap = 1;
    const auto overlapping = [&](const std::vector<tmm::MeasuredCandidate>& rows) {
        std::vector<tmm::Candidate> both = kCandidates;
        both.insert(both.end(), all.begin(), all.end());
        List blocks;
        for (const tmm::Candidate& one : tmm::fastest_measured({all.begin(), all.begin() + 3}, both, rows))
            blocks.push_back(one.config.overlap != 0 ? one.config.block_m : -one.config.block_m);
        return blocks;
    };
    CHECK(overlapping({row(4, 10), row(5, 20)}) == List{1, -4, 4});
    std::vector<tmm::MeasuredCandidate> rows{row(4, 10), row(5, 20), row(4, 30)};
    rows.back().config.overlap = 1;
    CHECK(overlapping(rows) == List{1, -4, -5});
}

TEST_CASE("or those of the best other order of its products") {
    std::vector<tmm::Candidate> candidates = kCandidates;
    for (tmm::Candidate& one : candidates) one.config.fma_order = tmm::fma_order::one_row;
    std::vector<tmm::MeasuredCandidate> rows{row(4, 10), row(5, 20), row(6, 15), row(5, 9), row(3, 12)};
    rows[3].config.fma_order = tmm::fma_order::four_columns;
    rows[4].config.fma_order = tmm::fma_order::one_row;
    List blocks;
    for (const tmm::Candidate& one : tmm::fastest_measured({candidates.begin(), candidates.begin() + 3}, candidates, rows))
        blocks.push_back(one.config.block_m);
    CHECK(blocks == List{1, 4, 5});
}

TEST_CASE("of each config the newest row counts, if it passed, and the fastest comes first") {
    const auto verified = [](const std::vector<tmm::MeasuredCandidate>& rows) {
        List blocks;
        for (const tmm::MeasuredCandidate& one : tmm::verified_times(rows)) blocks.push_back(one.config.block_m);
        return blocks;
    };
    CHECK(verified({row(7, 30), row(8, 10), row(9, 20)}) == List{8, 9, 7});
    CHECK(verified({row(7, 40), row(8, 10, "today", tmm::Outcome::crashed), row(7, 1), row(8, 1), row(9, 20)}) == List{9, 7});
    CHECK(verified({}).empty());
}
